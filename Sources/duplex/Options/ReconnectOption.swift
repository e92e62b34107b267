import ArgumentParser
import AudioDevices
import SimulatedDevices

/// Whether a session outlives its device.
struct ReconnectOption: ParsableArguments {
  @Flag(
    inversion: .prefixedNo,
    help: """
      Wait for a device that goes away, and go on when the same one is back. (default: for cards)
      """)
  var reconnect: Bool?

  /// What was asked for; else whether the devices of `configuration` can be told from others when
  /// they come back.
  func isWanted(for configuration: DuplexConfiguration) -> Bool {
    let names = [configuration.capture, configuration.playback].compactMap { $0?.device }
    return reconnect ?? names.allSatisfy(Self.comesBack)
  }

  private static func comesBack(_ name: String) -> Bool {
    guard SimulatedDeviceSpecification.isSimulated(name) else {
      return DeviceIdentity.isKnown(name)
    }
    return (try? SimulatedDeviceSpecification(parsing: name))?.replugSeconds != nil
  }
}
