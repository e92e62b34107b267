/// Check that a file which a repair calls intact, or has mended, can be played.
enum RepairCheck {
  /// Throws `.unusableContents` where no length of the file `finding` tells of is wrong, and it
  /// cannot be read all the same.
  static func check(_ finding: RepairFinding) throws(FileFailure) {
    guard finding.isIntact,
      isRefused(
        finding,
        { () throws(FileFailure) in
          try LocalFile(path: finding.path)
        })
    else { return }
    throw FileFailure(
      .unusableContents,
      "\(finding.path) cannot be played, though its lengths are right: its header is damaged or of an unknown kind.",
      hint: "Look for another copy of it.")
  }

  /// Throws `.unusableContents` where the mended file cannot be read that `open` opens.
  static func check(
    _ finding: RepairFinding, mended open: () throws(FileFailure) -> any ByteSource
  ) throws(FileFailure) {
    guard isRefused(finding, open) else { return }
    throw FileFailure(
      .unusableContents,
      "\(finding.path) cannot be mended: what else its header says cannot be read.",
      hint: "Look for another copy of it.")
  }

  /// Whether the contents are refused. Of FLAC and Ogg, of which more is mended than can be played,
  /// that is not asked.
  private static func isRefused(
    _ finding: RepairFinding, _ open: () throws(FileFailure) -> any ByteSource
  ) -> Bool {
    switch finding.fileFormat {
    case .flac, .ogg, .opus, .mp3, .raw: return false
    case .wav, .rf64, .w64, .aiff, .caf: break
    }
    do throws(FileFailure) {
      _ = try SoundFileReader(BufferedBytes(open()))
      return false
    } catch {
      return error.kind == .unusableContents || error.kind == .unknownContents
    }
  }
}
