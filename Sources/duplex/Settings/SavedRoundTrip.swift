import AudioDevices
import AudioFiles
import DelayEstimation
import LatencyMeasurement

/// The round trip of a pair of devices, measured once and saved for overdubs: one file for each
/// combination of devices, rate, period and headroom.
struct SavedRoundTrip {
  /// The numbers in the file.
  private let stored: StoredRoundTrip

  /// Returns the round trip that was saved for this configuration; nil if none was saved. Throws if
  /// the saved file cannot be used.
  static func find(_ configuration: DuplexConfiguration) throws -> SavedRoundTrip? {
    guard let path = try? path(for: configuration) else { return nil }
    let hint = "Remove the file, then measure again with `duplex latency --save`."
    let objects: [JSON]?
    do throws(FileFailure) {
      objects = try SettingsFolder.objects(at: path)
    } catch {
      // The user did not choose this name, so the hint explains the file.
      throw FileFailure(error.kind, error.message, hint: hint)
    }
    return try objects.map { try SavedRoundTrip($0, path, hint: hint) }
  }

  /// Reads the round trip in a file that was saved here, or is the output of `latency --json`.
  init(file path: String) throws {
    let text = try TextFile.read(path, limit: SettingsFolder.maximumByteCount)
    try self.init(
      JSON.objects(in: text), path,
      hint: "Use the output of `duplex latency --json`, or a file of `duplex latency --save`.")
  }

  /// Reads the round trip in one of `objects`. A result that is marked as doubtful is refused,
  /// unless its doubts do not matter for an alignment: such a result is saved.
  private init(_ objects: [JSON], _ path: String, hint: String) throws(FileFailure) {
    guard let object = objects.last(where: { $0["roundTripFrames"]?.number != nil }),
      let frames = object["roundTripFrames"]?.number
    else {
      throw FileFailure(.unusableContents, "\(path) has no round trip.", hint: hint)
    }
    let external = object["externalFrames"]?.number
    guard StoredRoundTrip(roundTripFrames: frames, externalFrames: external).isValid else {
      throw FileFailure(
        .unusableContents, "\(path) has a round trip that is out of range.", hint: hint)
    }
    guard object["doubtful"]?.boolean != true || Self.canAlign(object) else {
      throw FileFailure(
        .unusableContents, "The round trip in \(path) is marked as doubtful.",
        hint: "Measure again, or give the time itself: --latency \(frames.shown(3))f.")
    }
    // In an existing recording, the latency of the unit that made it is not known: all of the round
    // trip is external then.
    stored = StoredRoundTrip(
      roundTripFrames: frames,
      externalFrames: object["bufferFrames"]?.number == 0 ? nil : external,
      sampleRate: object["sampleRate"]?.whole)
  }

  /// Returns whether the doubts of a result, as its summary states them, do not matter for an
  /// alignment.
  private static func canAlign(_ object: JSON) -> Bool {
    let names = object["doubts"]?.elements?.compactMap(\.textValue) ?? []
    let doubts = names.compactMap(DelayEstimate.Doubt.init)
    guard !names.isEmpty, doubts.count == names.count else { return false }
    let frames = object["measurements"]?.elements?.compactMap(\.number) ?? []
    return RoundTripEstimate.objections(
      doubts, frames, sampleRate: object["sampleRate"]?.whole ?? 0
    ).isEmpty
  }

  /// Returns the round trip for a unit with another period or headroom: the part outside the unit
  /// is the same. Throws if it was measured at another rate.
  func frames(for configuration: DuplexConfiguration) throws(ToolFailure) -> Double {
    guard let frames = stored.frames(for: configuration) else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "The round trip was measured at \(stored.sampleRate ?? 0) Hz; this take is at "
          + "\(configuration.sampleRate) Hz.",
        hint:
          "Measure again with `duplex latency -r \(configuration.sampleRate) --save`, or leave out --latency."
      )
    }
    return frames
  }

  /// Saves `summary` for this configuration. Returns the path of the file.
  static func save(_ summary: Event, for configuration: DuplexConfiguration) throws -> String {
    let path = try path(for: configuration)
    try SettingsFolder.write(summary.json.text, to: path)
    return path
  }

  /// Throws if a round trip could not be saved after its measurement.
  static func checkFolder() throws { try SettingsFolder.check(kind) }

  /// Throws if the round trip of this configuration could not be saved.
  static func checkFile(for configuration: DuplexConfiguration) throws {
    try SettingsFolder.check(path: try path(for: configuration))
  }

  private static let kind = "latency"

  private static func path(for configuration: DuplexConfiguration) throws(ToolFailure) -> String {
    try SettingsFolder.path(kind, key(configuration))
  }

  private static func key(_ configuration: DuplexConfiguration) -> String {
    let devices = [configuration.capture?.device, configuration.playback?.device]
      .compactMap { $0.map(DeviceIdentity.of) }
    return devices.joined(separator: "--")
      + "--\(configuration.sampleRate)-\(configuration.periodFrames)"
      + "-\(configuration.headroomFrames)"
  }
}
