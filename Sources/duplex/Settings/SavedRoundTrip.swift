import AudioDevices
import AudioFiles

/// The round trip of a pair of devices, measured once and kept for overdubs: one file for each
/// setting of identity, rate, period and headroom.
struct SavedRoundTrip {
  /// The round trip in frames.
  let frames: Double
  /// Its part outside the unit, and the rate of both; nil where the text does not say.
  private let externalFrames: Double?
  private let sampleRate: Int?

  /// What was saved for this setting; nil where nothing was.
  static func find(_ configuration: DuplexConfiguration) -> SavedRoundTrip? {
    guard let path = try? path(for: configuration), let text = try? TextFile.read(path) else {
      return nil
    }
    return SavedRoundTrip(text)
  }

  /// The round trip in a file: one saved here, or what `latency --json` printed.
  init(file path: String) throws {
    let text = try TextFile.read(path)
    guard let saved = SavedRoundTrip(text) else {
      throw FileFailure(
        .unusableContents, "\(path) names no round trip.",
        hint: "Give it what `duplex latency --json` printed, or one that --save kept.")
    }
    self = saved
  }

  private init?(_ text: String) {
    guard let frames = JSON.number("roundTripFrames", in: text) else { return nil }
    self.frames = frames
    externalFrames = JSON.number("externalFrames", in: text)
    sampleRate = JSON.number("sampleRate", in: text).flatMap { Int(exactly: $0) }
  }

  /// The round trip for a unit of another period or headroom: what lies outside stays the same.
  /// Throws where it was measured at another rate.
  func frames(for configuration: DuplexConfiguration) throws(ToolFailure) -> Double {
    guard let sampleRate, let externalFrames else { return frames }
    guard sampleRate == configuration.sampleRate else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "The round trip was measured at \(sampleRate) Hz; this take is at "
          + "\(configuration.sampleRate) Hz.",
        hint: "Measure it again with -r \(configuration.sampleRate), or leave out --latency.")
    }
    return externalFrames + configuration.latencyFrames
  }

  /// Keeps what `summary` says for this setting; answers with the file.
  static func save(_ summary: Event, for configuration: DuplexConfiguration) throws -> String {
    let path = try path(for: configuration)
    try TextFile.write(summary.json.text + "\n", to: path, makingFolders: true)
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
