import ArgumentParser
import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions

extension FileFormat: ExpressibleByArgument {
  /// What the user's word for it means.
  public init?(argument: String) {
    self.init(name: argument)
  }
}

extension FileSampleFormat: ExpressibleByArgument {
  /// What the user's word for it means.
  public init?(argument: String) {
    self.init(name: argument)
  }
}

/// `duplex record`.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Record notes to disk.",
    discussion: """
      Without FILE it records to note-YYYYMMDD-HHMMSS.wav in the current folder; - is standard
      output. Ctrl-C or q ends it, with the file finalised.
      """)

  @OptionGroup var audio: AudioOptions

  @OptionGroup var reconnection: ReconnectOption

  @Option(help: ArgumentHelp("The kind of file. (default: by its extension)", valueName: "name"))
  var fileFormat: FileFormat?

  @Option(
    help: ArgumentHelp(
      "s16, s24, s32 or float. (default: what the device delivers)", valueName: "name"))
  var sampleFormat: FileSampleFormat?

  @Flag(help: "Replace FILE if it exists.")
  var overwrite = false

  @Flag(help: "Hear yourself: play the input to the output as well.")
  var monitor = false

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Gain of the input in dB.", valueName: "db"))
  var gain = DecibelOption(0)

  @Argument(help: "Where to record to.")
  var file: String?

  func run() throws {
    let target = try RecordingTarget(
      path: file ?? noteName(), fileFormat: fileFormat, sampleFormat: sampleFormat,
      overwrite: overwrite)
    guard !(target.isStream && audio.json) else {
      throw ToolFailure(
        .usage, code: "usage", "Standard output cannot carry the recording and events.",
        hint: "Leave out --json, or name a file.")
    }
    let use = RecordUse(command: self, target: target)
    let status = try inTermsOfTheTool {
      try DeviceChoice(audio, captures: true, plays: monitor).use(use)
    }
    throw ExitCode(status.rawValue)
  }
}

/// Records what a device captures.
private struct RecordUse: DeviceUse {
  let command: RecordCommand
  let target: RecordingTarget

  func run<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let configuration = device.configuration
    let channels = configuration.capture?.channelCount ?? 1
    var recording = try Recording(
      target, channelCount: channels, sampleRate: configuration.sampleRate,
      from: configuration.capture?.format)
    var desk = MixingDesk(configuration)
    desk.inputGain = command.gain.gain
    desk.recorder = recording.takeRecorder()
    if command.monitor { desk.monitor = .softStart(gain: 1, configuration) }
    let saver = recording.saver
    let meter = desk.makeMeter(command.audio, configuration)
    let outcome = try SessionOutcome(
      running: device, desk, command.audio, clock, background: background + [saver], meter: meter,
      reconnects: command.reconnection.isWanted(for: configuration)
    ) { _ in saver.isFailed ? .disk : nil }
    return outcome.conclude(
      "record", recorded: saver.report,
      extra: JSON.recording(target, recording.sampleFormat, channels, saver.report),
      sentence: target.isStream ? nil : saver.report.sentence(target.path, configuration))
  }
}

extension RecordingReport {
  /// What was recorded, for a person.
  func sentence(_ path: String, _ configuration: DuplexConfiguration) -> String {
    let seconds = Double(frames) / Double(configuration.sampleRate)
    let peak = peaks.max().map { Decibels.level($0).shown(1) + " dBFS peak" } ?? "no peak"
    let loudness = integratedLUFS.map { ", \($0.shown(1)) LUFS" } ?? ""
    let lost = gaps.reduce(0) { $0 + $1.frames }
    return "\(path): \(seconds.shown(2)) s, \(frames) frames, \(peak)\(loudness)"
      + (lost > 0 ? ", \(lost) frames lost in \(gaps.count) gap\(gaps.count == 1 ? "" : "s")" : "")
      + "."
  }
}
