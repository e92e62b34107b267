/// Files that have less than they say.
extension FileFailure {
  /// Nothing comes after frame `frame`, though `frameCount` are announced.
  static func cutShort(
    _ name: String, _ frame: Int, _ frameCount: Int
  ) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) is damaged or cut short after \(frame) of \(frameCount) frames.",
      hint: "What comes before can be used; get the file anew for the rest.")
  }

  /// The announced frame `frame` cannot be gone to.
  static func unreachable(_ name: String, _ frame: Int, _ frameCount: Int) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(name) is damaged or cut short: it has no frame \(frame), though it announces \(frameCount).",
      hint: "Play it from its beginning, or get the file anew.")
  }
}
