import ArgumentParser
import AudioDevices
import SimulatedDevices

/// A command of the tool.
protocol ToolCommand: ParsableCommand {
  /// The form of the output.
  var outputMode: OutputMode { get }
  /// The exit status if the program is stopped before the command has begun its work.
  var stoppedStatus: ExitStatus { get }

  /// Words with which every option of the command may have an effect: its operands, and the options
  /// that others need. A default of the settings that is refused even beside these can be used in
  /// no run.
  static var completeWords: [String] { get }

  /// Throws if options that the parser accepts cannot be used together, as far as that is known
  /// without opening a file or a device. Defaults of the settings are left out if they cannot be
  /// used together with the words of the user.
  func checkCombination() throws

  /// Executes the command. Returns the exit status.
  func perform() throws -> ExitStatus
}

extension ToolCommand {
  /// `.loss`, because a command that is stopped early has no result.
  var stoppedStatus: ExitStatus { .loss }

  static var completeWords: [String] { [] }

  func checkCombination() throws {}
}

/// A command that uses audio devices.
protocol AudioCommand: ToolCommand {
  var audio: AudioOptions { get set }
  /// Whether it opens an input.
  var captures: Bool { get }
  /// Whether it opens an output.
  var plays: Bool { get }
  /// The further devices that play the same signal as the output.
  var secondaryDevices: [String] { get set }
}

extension AudioCommand {
  var outputMode: OutputMode { OutputMode(json: audio.json, quiet: audio.quiet) }
  var captures: Bool { true }
  var plays: Bool { true }
  var secondaryDevices: [String] {
    get { [] }
    set {}
  }

  /// Returns the same command with parts of device names replaced by ALSA's full names. Throws if a
  /// part matches several devices.
  func resolvingDeviceNames() throws(DeviceFailure) -> any ToolCommand {
    var command = self
    if captures {
      let name = audio.inputDevice
      let found = try DeviceNames.resolved(name, isCapture: true)
      if found != name { command.audio.captureDevice = found }
    }
    if plays {
      let name = audio.outputDevice
      let found = try DeviceNames.resolved(name, isCapture: false)
      if found != name { command.audio.playbackDevice = found }
    }
    for (index, name) in command.secondaryDevices.enumerated() {
      command.secondaryDevices[index] = try DeviceNames.resolved(name, isCapture: false)
    }
    return command
  }
}

/// A command with `--also-play`.
protocol AlsoPlayingCommand: AudioCommand {
  var alsoPlay: AlsoPlayOption { get set }
}

extension AlsoPlayingCommand {
  var secondaryDevices: [String] {
    get { alsoPlay.devices }
    set { alsoPlay.devices = newValue }
  }
}

extension DeviceNames {
  /// Returns the result of `resolve` for `name`. The names of simulated devices and `default` are
  /// returned unchanged.
  fileprivate static func resolved(
    _ name: String, isCapture: Bool
  ) throws(DeviceFailure) -> String {
    guard name != "default", !SimulatedDeviceSpecification.isSimulated(name) else { return name }
    return try resolve(name, isCapture: isCapture)
  }
}

/// Throws a `ValidationError` with `sentence` unless a condition is met.
func require(_ isMet: Bool, _ sentence: String) throws(ValidationError) {
  if !isMet { throw ValidationError(sentence) }
}
