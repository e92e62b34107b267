import AudioFiles
import AudioSessions

/// The files of an overdub: one take a pass, checked before anything sounds.
struct OverdubTakes {
  let paths: [String]
  private let command: OverdubCommand
  private let fileFormat: FileFormat
  private let inputs: Set<FileIdentity>

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
      ? [command.take] : (1...command.takes).map { FileName.insert("-\($0)", into: command.take) }
    var inputs = InputFiles(command.audio)
    inputs.add(command.backing)
    if case .file(let path) = command.latency { inputs.add(path) }
    self.inputs = inputs.identities
    for path in paths + [command.mix].compactMap({ $0 }) {
      guard FileIdentity(of: path).map({ !inputs.identities.contains($0) }) ?? true else {
        throw ToolFailure(
          .usage, code: "usage",
          "\(path) is what is played or heard: the backing, or another input.",
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
    // A region is a recording of its own until it is in its take: found, should the power fail.
    let random = String(UInt32.random(in: 0 ... .max), radix: 36)
    var target = try RecordingTarget(
      path: command.isPunchIn ? FileName.insert("-region-\(random)", into: path) : path,
      fileFormat: command.isPunchIn ? splice?.fileFormat ?? fileFormat : nil,
      sampleFormat: splice?.sampleFormat, overwrite: command.overwrite && !command.isPunchIn)
    target.inputs = inputs
    return target
  }
}
