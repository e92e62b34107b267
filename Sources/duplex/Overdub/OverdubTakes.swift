import AudioBasics
import AudioDevices
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
      try OutputFolder.refuseDanglingLink(at: path)
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
      // What cannot be written is reported before the user plays: the folder takes a new take or
      // the region, and the take receives the region at the end.
      if !exists || command.isPunchIn { try OutputFolder.check(for: path) }
      if exists && command.isPunchIn { try OutputFolder.checkFile(at: path) }
    }
    if let mix = command.mix {
      _ = try RecordingTarget(
        path: mix, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    }
  }

  /// Throws if a take or the mix cannot hold what is recorded with `configuration`.
  func check(_ configuration: DuplexConfiguration) throws {
    for path in paths where try existing(path, configuration) == nil {
      let plan = try target(path, into: nil).plan(
        configuration.capture, sampleRate: configuration.sampleRate, .virtual)
      try plan.fileFormat.check(
        sampleFormat: plan.sampleFormat, sampleRate: plan.sampleRate,
        channelCount: plan.channelCount)
    }
    if let mix = command.mix {
      try OverdubMix.check(mix, of: command, configuration)
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
  /// takes, each is a copy of the take without a number, if that exists. Throws if its shape is not
  /// that of a recording with `configuration`.
  func existing(_ path: String, _ configuration: DuplexConfiguration) throws -> FileSplice? {
    guard command.isPunchIn else { return nil }
    let splice: FileSplice
    if path != command.take, SoundFileReader.exists(command.take) {
      splice = try FileSplice(path: command.take, copyPath: path, overwrite: command.overwrite)
    } else if SoundFileReader.exists(path) {
      splice = try FileSplice(path: path)
    } else {
      return nil
    }
    let rate = configuration.sampleRate
    let channels = configuration.capture?.channelCount ?? 1
    guard splice.sampleRate == rate, splice.channelCount == channels else {
      throw ToolFailure.unusable(
        "\(splice.path) has \(splice.channelCount.counted("channel")) at \(splice.sampleRate) Hz; this take "
          + "would have \(channels) at \(rate) Hz.",
        hint: "Use -c \(splice.channelCount) -r \(splice.sampleRate), or convert the file.")
    }
    return splice
  }

  /// Returns the target of a pass: the take, or for a region a separate file that is inserted into
  /// the take afterwards.
  func target(_ path: String, into splice: FileSplice?) throws -> RecordingTarget {
    // A region is in a separate file until it is inserted, so that a power failure does not lose
    // it.
    let random = String(UInt32.random(in: 0 ... .max), radix: 36)
    var target = try RecordingTarget(
      path: command.isPunchIn ? FileName.insert("-region-\(random)", into: path) : path,
      fileFormat: command.isPunchIn ? splice?.fileFormat ?? fileFormat : nil,
      sampleFormat: splice?.sampleFormat, overwrite: command.overwrite && !command.isPunchIn)
    target.inputs = inputs
    // A take is one file, which is inserted or mixed afterwards.
    target.continuesInNextFile = false
    return target
  }
}
