/// Mends sound files whose header does not say what they hold, or whose end is torn.
///
/// However long the file is, a few hundred kilobytes of it are in memory. Any thread but the audio
/// thread.
public enum FileRepair {
  /// Looks at the file `path` and changes nothing. `wiped` says what a WAV file held whose header
  /// is lost.
  ///
  /// Throws `.cannotOpen`, `.permissionDenied`, `.readFailed`, and `.unusableContents` for what is no
  /// sound file, or holds too little to go by.
  public static func examine(
    _ path: String, wiped: WipedHeader? = nil
  ) throws(FileFailure) -> RepairFinding {
    let file = try DamagedFile(path)
    guard file.byteCount > 0 else {
      throw FileFailure(
        .unusableContents, "\(path) is empty.", hint: "Look for another copy of it.")
    }
    let head = try file.bytes(at: 0, count: 40)
    switch (head.identifier(at: 0), head.identifier(at: 8)) {
    case ("RIFF", "WAVE"), ("RF64", "WAVE"), ("BW64", "WAVE"):
      return try WaveRepair(file).finding()
    case ("FORM", "AIFF"), ("FORM", "AIFC"): return try AIFFRepair(file).finding()
    case ("riff", _) where head.identifier(at: 24) == "wave":
      return try Wave64Repair(file).finding()
    case ("caff", _): return try CoreAudioRepair(file).finding()
    case ("fLaC", _): return try FLACRepair(file, at: 0).finding()
    case ("OggS", _):
      var repair = OggRepair(file)
      return try repair.finding()
    default: break
    }
    if head.starts(with: Array("ID3".utf8)), head.count >= 10 {
      // Seven bits in a byte, as MPEG files need it.
      let size = head[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
      if try file.bytes(at: 10 + size, count: 4).identifier(at: 0) == "fLaC" {
        return try FLACRepair(file, at: 10 + size).finding()
      }
    }
    guard head.allSatisfy({ $0 == 0 }) else { throw .noSoundFile(path) }
    // Not even a header is lost where there is no room for sound behind one.
    guard file.byteCount > 44 else { throw .noFrames(path) }
    guard let wiped else {
      throw FileFailure(
        .unusableContents, "\(path) begins with zeros: its header is lost.",
        hint: "Say what it held, if it was a WAV file: --rate, --channels and --sample-format.")
    }
    return try wiped.finding(file)
  }
}
