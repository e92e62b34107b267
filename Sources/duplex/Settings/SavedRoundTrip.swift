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

  /// What was saved for this setting; nil where nothing was. Throws where what was saved cannot be used.
  static func find(_ configuration: DuplexConfiguration) throws -> SavedRoundTrip? {
    guard let path = try? path(for: configuration),
      let objects = try SettingsFolder.objects(at: path)
    else { return nil }
    return try SavedRoundTrip(
      objects, path, hint: "Remove it, or measure anew with `duplex latency --save`.")
  }

  /// The round trip in a file: one saved here, or what `latency --json` printed.
  init(file path: String) throws {
    let text = try TextFile.read(path, limit: SettingsFolder.longestText)
    try self.init(
      JSON.objects(in: text), path,
      hint: "Give it what `duplex latency --json` printed, or one that --save kept.")
  }

  /// The round trip that one of `objects` names. It is at most 10^7 frames, more than ten seconds at
  /// any rate, and what lies outside the unit is no longer: sums with a unit's own latency stay small.
  private init(_ objects: [JSON], _ path: String, hint: String) throws(FileFailure) {
    guard let object = objects.last(where: { $0["roundTripFrames"]?.number != nil }),
      let frames = object["roundTripFrames"]?.number
    else {
      throw FileFailure(.unusableContents, "\(path) names no round trip.", hint: hint)
    }
    let external = object["externalFrames"]?.number
    guard (0...1e7).contains(frames), (-1e7...1e7).contains(external ?? 0) else {
      throw FileFailure(
        .unusableContents, "\(path) names a round trip that no device has.", hint: hint)
    }
    self.frames = frames
    externalFrames = external
    sampleRate = object["sampleRate"]?.whole
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
    return max(0, externalFrames + configuration.latencyFrames)
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
