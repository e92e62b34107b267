import ArgumentParser
import AudioDevices
import SimulatedDevices

/// A command of the tool.
protocol ToolCommand: ParsableCommand {
  /// How it is to talk.
  var outputMode: OutputMode { get }
  /// How the program ends where it is stopped before anything has begun.
  var stoppedStatus: ExitStatus { get }

  /// Does all of it; answers with how it ended.
  func perform() throws -> ExitStatus
}

extension ToolCommand {
  /// There is nothing to show.
  var stoppedStatus: ExitStatus { .loss }
}

/// A command that uses audio devices.
protocol AudioCommand: ToolCommand {
  var audio: AudioOptions { get set }
  /// Whether it opens an input.
  var captures: Bool { get }
  /// Whether it opens an output.
  var plays: Bool { get }
  /// Devices that play the same as the output.
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

  /// The same command with the names that ALSA has for devices in place of parts of names. Throws
  /// where a part fits several.
  func resolvingDeviceNames() throws(DeviceFailure) -> any ToolCommand {
    var command = self
    if captures {
      let name = audio.captureDevice ?? audio.device
      let found = try DeviceNames.resolved(name, isCapture: true)
      if found != name { command.audio.captureDevice = found }
    }
    if plays {
      let name = audio.playbackDevice ?? audio.device
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
  /// What `resolve` says of `name`; simulated devices and ALSA's default are what they are.
  fileprivate static func resolved(
    _ name: String, isCapture: Bool
  ) throws(DeviceFailure) -> String {
    guard name != "default", !SimulatedDeviceSpecification.isSimulated(name) else { return name }
    return try resolve(name, isCapture: isCapture)
  }
}

/// Refuses the words of the user with `sentence`, unless a condition is met.
func require(_ isMet: Bool, _ sentence: String) throws(ValidationError) {
  if !isMet { throw ValidationError(sentence) }
}
