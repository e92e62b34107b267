import AudioFiles

/// The files of an overdub: one take for each pass, checked before playback starts.
struct OverdubTakes {
  let paths: [String]
  private let command: OverdubCommand
  private let fileFormat: FileFormat
  private let inputs: Set<FileIdentity>

  /// Checks the files of `command`, which records the frames `region` of the backing.
  init(_ command: OverdubCommand, _ region: Range<Int>) throws {
    self.command = command
    let target = try RecordingTarget(
      path: command.take, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    fileFormat = target.fileFormat
    guard fileFormat != .mp3 else {
      throw ToolFailure.usage(
        "A take cannot be an MP3 file: the encoder adds silence at its beginning.",
        hint: "Record the take as WAV or FLAC, so that it lines up.")
    }
    paths = command.takePaths
    var inputs = InputFiles(command.audio)
    inputs.add(command.backing)
    if case .file(let path) = command.latency { inputs.add(path) }
    self.inputs = inputs.identities
    for path in paths + [command.mix].compactMap({ $0 }) {
      try OutputFolder.refuseFolder(at: path)
      guard FileIdentity(of: path).map({ !inputs.identities.contains($0) }) ?? true else {
        throw ToolFailure.usage(
          "\(path) is an input of this command: the backing, or another file that is read.",
          hint: "Choose another name for the take.")
      }
      // The purpose of a region is to be inserted into the existing take. Of several takes, each is
      // a copy of it.
      let exists = SoundFileReader.exists(path)
      let mayExist =
        command.overwrite
        || (command.isPunchIn && path == command.take && exists && !Self.isAll(of: path, region))
      guard mayExist || !exists else { throw FileFailure.exists(path) }
      // An unusable folder is reported before the user plays.
      if !exists { try OutputFolder.check(for: path) }
    }
    if let mix = command.mix {
      _ = try RecordingTarget(
        path: mix, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    }
  }

  /// Returns whether `region` covers the whole take at `path`. Returns false if the take cannot be
  /// read, which is reported elsewhere.
  private static func isAll(of path: String, _ region: Range<Int>) -> Bool {
    guard region.lowerBound == 0, let frames = (try? SoundFileReader(path: path))?.frameCount else {
      return false
    }
    return region.upperBound >= frames
  }

  /// Returns the take into which the region is inserted; nil if there is none yet. Of several
  /// takes, each is a copy of the take without a number, if that exists.
  func existing(_ path: String) throws -> FileSplice? {
    guard command.isPunchIn else { return nil }
    if path != command.take, SoundFileReader.exists(command.take) {
      return try FileSplice(path: command.take, copyPath: path, overwrite: command.overwrite)
    }
    return SoundFileReader.exists(path) ? try FileSplice(path: path) : nil
  }

  /// Returns the target of a pass: the take, or for a region a separate file that is inserted into
  /// the take afterwards.
  func target(_ path: String, into splice: FileSplice?) throws -> RecordingTarget {
    // A region is in a separate file until it is inserted, so that a power failure does not lose
    // it.
    let random = String(UInt32.random(in: 0 ... .max), radix: 36)
    var target = try RecordingTarget(
      path: command.isPunchIn ? FileName.insertShortening("-region-\(random)", into: path) : path,
      fileFormat: command.isPunchIn ? splice?.fileFormat ?? fileFormat : nil,
      sampleFormat: splice?.sampleFormat, overwrite: command.overwrite && !command.isPunchIn)
    target.inputs = inputs
    return target
  }
}
