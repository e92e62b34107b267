import ArgumentParser
import AudioDevices
import SimulatedDevices

/// A command that uses audio devices.
protocol AudioCommand: ParsableCommand, TalkingCommand {
  var audio: AudioOptions { get set }
  /// Whether it opens an input.
  var captures: Bool { get }
  /// Whether it opens an output.
  var plays: Bool { get }
  /// Devices that play the same as the output.
  var furtherDevices: [String] { get set }
}

extension AudioCommand {
  var captures: Bool { true }
  var plays: Bool { true }
  var furtherDevices: [String] {
    get { [] }
    set {}
  }

  /// The same command with the names that ALSA has for devices in place of parts of names. Throws
  /// where a part fits several.
  func resolvingDeviceNames() throws -> any ParsableCommand {
    var command = self
    do {
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
      for (index, name) in command.furtherDevices.enumerated() {
        command.furtherDevices[index] = try DeviceNames.resolved(name, isCapture: false)
      }
    } catch let failure as DeviceFailure {
      throw ToolFailure(failure)
    }
    return command
  }
}

extension DeviceNames {
  /// What `resolve` says of `name`; simulated devices and ALSA's default are what they are.
  fileprivate static func resolved(_ name: String, isCapture: Bool) throws -> String {
    guard name != "default", !SimulatedDeviceSpecification.isSimulated(name) else { return name }
    return try resolve(name, isCapture: isCapture)
  }
}
