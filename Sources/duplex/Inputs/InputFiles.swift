import AudioFiles
import AudioSessions
import SimulatedDevices

/// The files that a command reads while it writes others. None of them may be written to, under any
/// name.
struct InputFiles {
  private var paths: [String] = []
  private var lists: [SourceList] = []

  /// Collects the files that the simulated devices of `audio` use as microphone signals.
  init(_ audio: AudioOptions) {
    let devices = [audio.device, audio.captureDevice, audio.playbackDevice].compactMap { $0 }
    for device in devices {
      if let path = (try? SimulatedDeviceSpecification(parsing: device))?.microphonePath {
        add(path)
      }
    }
  }

  mutating func add(_ path: String) { paths.append(path) }

  /// Adds the files that are mixed in, and the playlists that contain them.
  mutating func add(_ items: PlayItems, from mixes: [MixOption]) {
    lists.append(items.sources)
    paths += mixes.map(\.path)
  }

  var identities: Set<FileIdentity> {
    var identities = Set(paths.compactMap { FileIdentity(of: $0) })
    for address in lists.joined() where !address.isRemote {
      if let identity = FileIdentity(of: address.location) { identities.insert(identity) }
    }
    return identities
  }
}
