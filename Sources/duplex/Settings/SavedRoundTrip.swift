import AudioDevices
import AudioFiles

/// The round trip of a pair of devices, measured once and kept for overdubs: one file for each
/// setting of identity, rate, period and headroom.
struct SavedRoundTrip {
  let frames: Double

  /// What was saved for this setting; nil where nothing was.
  static func find(_ configuration: DuplexConfiguration) -> SavedRoundTrip? {
    guard let path = try? path(for: configuration), let text = try? TextFile.read(path),
      let frames = JSON.number("roundTripFrames", in: text)
    else { return nil }
    return SavedRoundTrip(frames: frames)
  }

  /// The round trip in a file: one saved here, or what `latency --json` printed.
  init(file path: String) throws {
    let text = try TextFile.read(path)
    guard let frames = JSON.number("roundTripFrames", in: text) else {
      throw FileFailure(
        .unusableContents, "\(path) names no round trip.",
        hint: "Give it what `duplex latency --json` printed, or one that --save kept.")
    }
    self.frames = frames
  }

  private init(frames: Double) {
    self.frames = frames
  }

  /// Keeps what `summary` says for this setting; answers with the file.
  static func save(_ summary: JSON, for configuration: DuplexConfiguration) throws -> String {
    let path = try path(for: configuration)
    try TextFile.write(summary.text + "\n", to: path)
    return path
  }

  private static func path(for configuration: DuplexConfiguration) throws(ToolFailure) -> String {
    try SettingsFolder.path("latency", key(configuration))
  }

  private static func key(_ configuration: DuplexConfiguration) -> String {
    let devices = [configuration.capture?.device, configuration.playback?.device]
      .compactMap { $0.map(DeviceIdentity.of) }
    return devices.joined(separator: "--")
      + "--\(configuration.sampleRate)-\(configuration.periodFrames)"
      + "-\(configuration.headroomFrames)"
  }
}
