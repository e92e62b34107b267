import AudioFiles
import AudioSessions
import Glibc

/// The files of an overdub: one take a pass, checked before anything sounds.
struct OverdubTakes {
  let paths: [String]
  private let command: OverdubCommand
  private let fileFormat: FileFormat

  init(_ command: OverdubCommand) throws {
    self.command = command
    let target = try RecordingTarget(
      path: command.take, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    fileFormat = target.fileFormat
    guard fileFormat != .mp3 else {
      throw ToolFailure(
        .usage, code: "usage", "An MP3 file begins with silence of the encoder's own.",
        hint: "Record the take as WAV or FLAC, so that it lines up.")
    }
    paths =
      command.takes == 1
      ? [command.take] : (1...command.takes).map { Self.numbered(command.take, $0) }
    for path in paths + [command.mix].compactMap({ $0 }) {
      guard !SoundFileReader.isSame(path, command.backing) else {
        throw ToolFailure(
          .usage, code: "usage", "\(path) is the backing itself.",
          hint: "Choose another name for the take.")
      }
      // A region goes into the take that is there: that is what it is for.
      let mayExist = command.overwrite || (command.isPunchIn && path != command.mix)
      guard mayExist || !SoundFileReader.exists(path) else {
        throw ToolFailure(
          .cannotCreate, code: "outputRefused", "\(path) exists already.",
          hint: "Choose another name, or replace it with --overwrite.")
      }
    }
    if let mix = command.mix {
      _ = try RecordingTarget(
        path: mix, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    }
  }

  /// The take that the region goes into; nil where there is none yet.
  func existing(_ path: String) throws -> FileSplice? {
    guard command.isPunchIn, SoundFileReader.exists(path) else { return nil }
    return try FileSplice(path: path)
  }

  /// Where the pass is recorded to: the take itself, or a file of its own that is put into the take
  /// afterwards.
  func target(_ path: String, into splice: FileSplice?) throws -> RecordingTarget {
    guard command.isPunchIn else {
      return try RecordingTarget(
        path: path, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    }
    return try RecordingTarget(
      path: "\(path).\(getpid()).region", fileFormat: splice?.fileFormat ?? fileFormat,
      sampleFormat: splice?.sampleFormat, overwrite: true)
  }

  /// `take.wav` and 2 make `take-2.wav`.
  private static func numbered(_ path: String, _ number: Int) -> String {
    let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard let dot = path[name...].lastIndex(of: "."), dot > name else {
      return "\(path)-\(number)"
    }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }
}
