import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import ProgramRuntime
import RealtimeAudio

/// The path and the format of a recording. They are checked before a device is opened; the plan is
/// made once the sample rate and the channels are known.
struct RecordingTarget {
  let path: String
  let fileFormat: FileFormat
  let sampleFormat: FileSampleFormat?
  let overwrite: Bool
  /// Whether the program chose the name, and takes another one if that is taken meanwhile.
  var takesFreeName = false
  /// Whether the recording continues in another file when its file can hold no more.
  var continuesInNextFile = true
  /// The files that are read during the recording.
  var inputs: Set<FileIdentity> = []

  /// Whether the recording goes to standard output, whose path is `-`.
  var isStream: Bool { path == "-" }

  /// Throws if `path` cannot be recorded to. `takesFormat` states whether the command has an option
  /// for the file format.
  init(
    path: String, fileFormat: FileFormat?, sampleFormat: FileSampleFormat?, overwrite: Bool,
    takesFormat: Bool = false
  ) throws(ToolFailure) {
    self.path = path
    guard !path.isEmpty else {
      throw ToolFailure.usage(
        "The name of the file is empty.", hint: "Name a file that ends in .wav, .flac or the like.")
    }
    if path != "-" {
      try Self.refuseFolder(path)
    } else if Terminal.showsResults {
      throw ToolFailure.usage(
        "Standard output is a terminal, which cannot show sound.",
        hint: "Name a file, or send it to another program with |.")
    }
    if let format = fileFormat ?? FileFormat(pathExtensionOf: path) {
      self.fileFormat = format
    } else if path == "-" {
      self.fileFormat = .wav
    } else {
      throw ToolFailure.usage(
        "The name \(FileName.withoutUser(path)) has no known extension, so the file format is unknown.",
        hint:
          "Use a name that ends in .wav, .flac, .ogg, .mp3 or the like\(takesFormat ? ", or give --file-format" : "")."
      )
    }
    self.sampleFormat = sampleFormat
    self.overwrite = overwrite
  }

  /// Throws if `path` is a folder.
  private static func refuseFolder(_ path: String) throws(ToolFailure) {
    do throws(FileFailure) {
      try OutputFolder.refuseFolder(at: path)
    } catch {
      throw ToolFailure(error)
    }
  }

  /// Returns the sample format of the file for samples that a device delivers as `format`.
  func keeps(_ format: SampleFormat?) -> FileSampleFormat {
    sampleFormat ?? fileFormat.sampleFormat(delivered: format)
  }

  /// Returns the plan of a recording of `stream`.
  func plan(
    _ stream: StreamConfiguration?, sampleRate: Int, _ clock: SessionClock
  ) -> RecordingPlan {
    var plan = RecordingPlan(
      path: path, fileFormat: fileFormat, sampleFormat: keeps(stream?.format),
      sampleRate: sampleRate, channelCount: stream?.channelCount ?? 1)
    plan.capturedFormat = stream?.format
    plan.overwrite = overwrite
    plan.takesFreeName = takesFreeName
    plan.inputs = inputs
    plan.continuesInNextFile = continuesInNextFile
    plan.isVirtual = clock.isVirtual
    plan.shouldStopWaiting = { SignalWatch.isEndWaiting }
    return plan
  }
}

extension RecordingTarget {
  private static let tagHint = "FLAC, Ogg and WAV files hold all tags."

  /// Warns that a file cannot hold all of its tags.
  private func warnOfLoss(_ loss: SoundFileTags.Loss) {
    switch loss {
    case .text(let name):
      warn(
        "tagsLeftOut", "\(fileFormat.title) has no place for the \(name): it is left out.",
        hint: Self.tagHint)
    case .zero:
      warn(
        "tagsCut", "A tag cannot hold the character U+0000: it ends there.",
        hint: "Leave the character out.")
    case .date:
      warn(
        "tagsCut", "\(fileFormat.title) holds the year of a date only: the rest is left out.",
        hint: Self.tagHint)
    case .length:
      warn(
        "tagsCut", "\(fileFormat.title) cannot hold tags of this length: the tags are cut.",
        hint: [.flac, .ogg, .mp3].contains(fileFormat)
          ? "Use shorter tags." : "Use shorter tags, or record to FLAC, Ogg or MP3.")
    }
  }

  /// Warns that the extension of the name is that of another format: programs that choose a decoder
  /// by the name cannot read the file. RF64 may be named .wav, and Opus .ogg, but not conversely.
  private func warnOfName() {
    guard let named = FileFormat(pathExtensionOf: path), named != fileFormat else { return }
    let usual: [FileFormat: FileFormat] = [.rf64: .wav, .opus: .ogg]
    guard usual[fileFormat] != named else { return }
    warn(
      "nameOfOtherFormat",
      "The format of \(path) is \(fileFormat.title), but its name is one for \(named.title).",
      hint: "Choose a name that ends in .\(fileFormat.name), or leave --file-format out.")
  }

  /// Throws if options exclude each other, and warns about a name of another format, and about tags
  /// that the format cannot hold.
  func check(_ options: RecordingOptions, json: Bool) throws(ToolFailure) {
    try checkRaw(options.cleaning.raw)
    warnOfName()
    if options.split == nil, hasTime(path) {
      warn(
        "nameNotExpanded",
        "The file gets the name \(path) as it is written: only --split replaces %H and the like by the time.",
        hint: "Add --split for files that are named by their time.")
    }
    if let raw = options.cleaning.raw, hasTime(raw) {
      warn(
        "nameNotExpanded",
        "The file of --raw gets the name \(raw) as it is written: it is not split.",
        hint: "Choose a name without %H and the like.")
    }
    let tags = options.tags.tags
    if tags != SoundFileTags(), fileFormat == .w64 || fileFormat == .raw || isStream {
      warn(
        "tagsLeftOut",
        "\(isStream ? "Standard output" : fileFormat.title) cannot hold tags: they are left out.",
        hint: Self.tagHint)
    } else {
      for loss in tags.losses(in: fileFormat) { warnOfLoss(loss) }
    }
    if options.tags.isReplaced {
      warn(
        "tagsChanged", "A tag is not UTF-8: U+FFFD replaces its other bytes.",
        hint: "Give the tags in UTF-8.")
    }
    try checkStream(options, json: json)
  }

  /// Throws if the file cannot hold audio as `audio` requests it, or if standard output cannot have
  /// what the options request.
  func checkCombination(
    _ options: RecordingOptions, _ audio: AudioOptions
  ) throws {
    try checkStream(options, json: audio.json)
    try fileFormat.check(
      sampleFormat: keeps(audio.format?.format), sampleRate: audio.rate ?? 48000,
      channelCount: audio.captureChannels?.channels.count ?? audio.channels ?? 1)
    guard isStream, fileFormat != .wav, fileFormat != .raw else { return }
    throw ToolFailure.usage(
      "\(fileFormat.title) cannot be written to standard output.", hint: "Leave the format out.")
  }

  /// Throws if standard output cannot have what the options request.
  func checkStream(_ options: RecordingOptions, json: Bool) throws(ToolFailure) {
    guard isStream else { return }
    for (isAsked, sentence, option) in [
      (json, "Standard output cannot have both the recording and JSON events.", "--json"),
      (
        options.onFile != nil, "--on-file needs a file, and standard output is not a file.",
        "--on-file"
      ),
      (options.split != nil, "Standard output cannot be split into files.", "--split"),
    ] where isAsked {
      throw ToolFailure.usage(sentence, hint: "Leave out \(option), or name a file.")
    }
  }

  /// Returns whether a name contains a field of strftime for a date or a time. The percent sign
  /// after a number is one: `50%discount.wav`.
  private func hasTime(_ name: String) -> Bool {
    let characters = Array(name)
    return characters.indices.dropFirst().contains { index in
      characters[index - 1] == "%" && "YymdjHIMSsFTDR".contains(characters[index])
        && (index < 2 || !characters[index - 2].isNumber)
    }
  }

  /// Throws if `raw` cannot be the separate file for the unprocessed samples.
  private func checkRaw(_ raw: String?) throws(ToolFailure) {
    guard let raw else { return }
    guard raw != "-" else {
      throw ToolFailure.usage(
        "The unprocessed sound of --raw cannot go to standard output.",
        hint: "Name a file with --raw.")
    }
    guard FileLocation(of: raw) != FileLocation(of: path) else {
      throw ToolFailure.usage(
        "--raw has the same name as the recording.", hint: "Choose another name for --raw.")
    }
    try Self.refuseFolder(raw)
    guard overwrite || !SoundFileReader.exists(raw) else { throw ToolFailure(.exists(raw)) }
  }
}

/// The size of the ring buffer, in frames, that holds samples in memory while the disk stalls.
enum RecordingRing {
  /// Returns the frames of a ring buffer of `seconds`, or of the default length if it is nil, with
  /// room for the periods of `periodFrames` that arrive at once.
  /// Throws `.usage` if the ring buffer would be larger than half of the memory of this machine:
  /// memory that is allocated, but not available when it is used, would end the recording.
  static func frameCount(
    seconds: Double?, sampleRate: Int, channelCount: Int, periodFrames: Int
  ) throws(ToolFailure) -> Int {
    guard let seconds else {
      return RecordingPlan.ringFrames(
        seconds: RecordingPlan.defaultRingSeconds, sampleRate: sampleRate,
        channelCount: channelCount, periodFrames: periodFrames)
    }
    let requested = RecordingPlan.unlimitedRingFrames(
      seconds: seconds, sampleRate: sampleRate, periodFrames: periodFrames)
    let maximum = maximumFrames(channelCount)
    guard requested <= maximum else {
      throw ToolFailure.usage(
        "A ring buffer of \(seconds.shown(2)) s of \(channelCount.counted("channel")) at \(sampleRate) Hz does not fit "
          + "in this machine's memory.",
        hint:
          "Use --ring \((Double(maximum) / Double(sampleRate)).shown(1)) s or less, or leave --ring out."
      )
    }
    return requested
  }

  /// Returns `gate` if the frames that wait for its decision in `ringCount` ring buffers fit in
  /// memory. Throws `.usage` if they do not.
  static func checked(
    _ gate: any RecordingGate, _ plan: RecordingPlan, ringCount: Int
  ) throws(ToolFailure) -> any RecordingGate {
    let maximum = maximumFrames(plan.channelCount * ringCount)
    guard gate.lookaheadFrames <= maximum else {
      func seconds(_ frames: Int) -> String { (Double(frames) / Double(plan.sampleRate)).shown(1) }
      throw ToolFailure.usage(
        "The sound before the start, \(plan.channelCount.counted("channel")) at \(plan.sampleRate) Hz for "
          + "\(seconds(gate.lookaheadFrames)) s, does not fit in this machine's memory.",
        hint: "Use a --pre-roll of less than \(seconds(maximum)) s.")
    }
    return gate
  }

  /// Returns the number of frames of `channelCount` channels that fill half of the memory.
  private static func maximumFrames(_ channelCount: Int) -> Int {
    let bytes = max(0, sysconf(Int32(_SC_PHYS_PAGES)))
      .multipliedReportingOverflow(by: max(0, sysconf(Int32(_SC_PAGESIZE)))).partialValue
    return bytes / 2 / (4 * max(1, channelCount))
  }
}
