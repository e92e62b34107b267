/// A check that a file can be played after a repair, or if no fault was found in it.
enum RepairCheck {
  /// Throws `.unusableContents` if `finding` has no faults but the file cannot be read.
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

  /// Throws `.unusableContents` if the repaired file that `open` opens cannot be read.
  static func check(
    _ finding: RepairFinding, repaired open: () throws(FileFailure) -> any ByteSource
  ) throws(FileFailure) {
    guard isRefused(finding, open) else { return }
    throw FileFailure(
      .unusableContents,
      "\(finding.path) cannot be mended: what else its header says cannot be read.",
      hint: "Look for another copy of it.")
  }

  /// Returns whether the contents are refused. FLAC and Ogg are not checked, since more of their
  /// variants can be repaired than played.
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
