import AudioFiles
import SimulatedDevices

/// The files that a command reads while it writes others: none of them may be written to, under
/// whatever name.
struct InputFiles {
  private var paths: [String] = []

  /// What the simulated devices of `audio` hear.
  init(_ audio: AudioOptions) {
    let devices = [audio.device, audio.captureDevice, audio.playbackDevice].compactMap { $0 }
    for device in devices {
      if let path = (try? SimulatedDeviceSpecification(parsing: device))?.microphonePath {
        add(path)
      }
    }
  }

  mutating func add(_ path: String) { paths.append(path) }

  /// What is mixed in, with the playlists it came from.
  mutating func add(_ items: PlayItems, from mixes: [MixOption]) {
    paths += items.paths + mixes.map(\.path)
  }

  var identities: Set<FileIdentity> { Set(paths.compactMap { FileIdentity(of: $0) }) }
}
