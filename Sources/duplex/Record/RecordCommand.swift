import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions

extension FileFormat: ExpressibleByArgument {
  /// Parses the format in the user's `argument`; nil if it is unknown.
  public init?(argument: String) {
    self.init(name: argument)
  }
}

extension FileSampleFormat: ExpressibleByArgument {
  /// Parses the format in the user's `argument`: `s16` or similar, or an ALSA format; nil if it is
  /// unknown.
  public init?(argument: String) {
    if let format = Self(name: argument) {
      self = format
    } else if let format = SampleFormat(name: argument) {
      self = format.fileSampleFormat
    } else {
      return nil
    }
  }
}

/// The command `duplex record`.
struct RecordCommand: MicrophoneCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Record the microphone to a file.",
    discussion: """
      Without FILE it records to note-YYYYMMDD-HHMMSS.wav in the current folder. The FILE - is \
      standard output. Press q or Ctrl-C to end, ? for all keys.

      \(KeyBindings.help(of: "record"))
      """)

  @OptionGroup var audio: AudioOptions

  var plays: Bool { monitor || !mixes.isEmpty }

  var stoppedStatus: ExitStatus { .done }

  @OptionGroup var alsoPlay: AlsoPlayOption

  @OptionGroup var reconnection: ReconnectOption

  @Option(
    help: .init(
      "File format: \(FileFormat.allCases.map(\.name).alternatives). (default: by the extension)",
      valueName: "name"))
  var fileFormat: FileFormat?

  @Option(
    help: .init(
      "Sample format of the file: \(FileSampleFormat.allCases.map(\.name).alternatives). (default: that of the device)",
      valueName: "name"))
  var sampleFormat: FileSampleFormat?

  @Flag(help: "Replace FILE if it exists.")
  var overwrite = false

  @Flag(help: "Play the microphone to the output as well.")
  var monitor = false

  @Option(
    name: .customLong("mix"),
    help: .init(
      "Play a file during the recording; it is not recorded. The gain is in dB. May be repeated.",
      valueName: "file[:db]"))
  var mixes: [MixOption] = []

  @Option(
    parsing: .unconditional,
    help: .init(
      "Gain of the microphone in dB, in the recording and in what --monitor plays.",
      valueName: "db"))
  var gain = Gain.unity

  @OptionGroup var silence: SilenceStopOption

  @OptionGroup var recording: RecordingOptions

  @OptionGroup var protection: MonitorProtectionOptions

  @Argument(help: "The file to record to.")
  var file: String?

  static var completeWords: [String] { ["x.wav", "--monitor"] + processingWords }

  func validate() throws {
    try recording.check(silence)
    try require(
      !recording.cleaning.echoCancel || !mixes.isEmpty,
      "--echo-cancel needs a file that is played: add --mix FILE.")
    try require(
      alsoPlay.devices.isEmpty || monitor || !mixes.isEmpty,
      "--also-play needs something to play: add --monitor, or a file with --mix.")
  }

  func checkCombination() throws {
    try target(file ?? "note.\((fileFormat ?? .wav).name)").checkCombination(recording, audio)
  }

  private func target(_ path: String) throws(ToolFailure) -> RecordingTarget {
    try RecordingTarget(
      path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, overwrite: overwrite,
      takesFormat: true)
  }

  func perform() throws -> ExitStatus {
    var target = try target(file ?? Notes.newName(fileFormat ?? .wav))
    target.takesFreeName = file == nil
    try target.check(recording, json: audio.json)
    let items = try PlayItems(
      mixing: mixes, try RangeOptions.parse([]), resamplerQuality: audio.resamplerQuality)
    var inputs = InputFiles(audio)
    inputs.add(items, from: mixes)
    target.inputs = inputs.identities
    let choice = DeviceChoice(
      audio, captures: captures, plays: plays, alsoPlay: alsoPlay.devices)
    return try choice.use { open in
      let session = try MicrophoneSession.run(
        self, on: open, .input, playsMicrophone: monitor, target: target, items: items.items)
      return session.conclude(
        "record", session.protection?.summary ?? [:],
        sentence: target.isStream
          ? nil : session.recording?.summary.sentence(session.outcome.report))
    }
  }
}
