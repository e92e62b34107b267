import AudioDevices
import AudioFiles
import RealtimeAudio

/// The settings that `duplex tune` found for a pair of devices. Audio commands use them if the user
/// requests no others.
struct DeviceProfile {
  var periodFrames: Int
  var headroomFrames: Int
  var sampleRate: Int

  /// Returns the profile of these devices; nil if none was saved, or if `rate` is higher than its
  /// rate. An unusable profile is ignored with a warning.
  static func find(capture: String, playback: String, rate: Int?) -> DeviceProfile? {
    guard let path = try? path(capture, playback) else { return nil }
    let profile: DeviceProfile
    do throws(FileFailure) {
      guard let objects = try SettingsFolder.objects(at: path) else { return nil }
      guard let found = objects.lazy.compactMap(DeviceProfile.init).first else {
        throw FileFailure(.unusableContents, "\(path) holds no profile.", hint: "")
      }
      profile = found
    } catch {
      reportUnusable(error.message)
      return nil
    }
    // The same number of frames takes longer at a lower rate, and is therefore stable as well.
    if let rate, rate > profile.sampleRate { return nil }
    return profile
  }

  init(periodFrames: Int, headroomFrames: Int, sampleRate: Int) {
    self.periodFrames = periodFrames
    self.headroomFrames = headroomFrames
    self.sampleRate = sampleRate
  }

  /// Reads the profile in an object; nil if its values are missing or no device could support them.
  private init?(_ object: JSON) {
    guard let period = object["periodFrames"]?.whole,
      let headroom = object["headroomFrames"]?.whole,
      let rate = object["sampleRate"]?.whole
    else { return nil }
    var request = DuplexRequest(captureDevice: "a", playbackDevice: "a")
    request.periodFrames = period
    request.headroomFrames = headroom
    request.sampleRate = rate
    guard (try? request.validate()) != nil else { return nil }
    (periodFrames, headroomFrames, sampleRate) = (period, headroom, rate)
  }

  private static let hasWarned = AtomicFlag()

  /// Warns once why a profile is not used, because it is read several times.
  private static func reportUnusable(_ reason: String) {
    guard hasWarned.raiseFirst() else { return }
    warn(
      "profileUnusable", "The device's saved profile is not used: \(reason)",
      hint: "Remove the file, then save a new profile with `duplex tune --save`.")
  }

  /// Saves the profile for these devices. Returns the path of the file.
  func save(capture: String, playback: String) throws -> String {
    let path = try Self.path(capture, playback)
    let fields: Fields = [
      "periodFrames": periodFrames, "headroomFrames": headroomFrames, "sampleRate": sampleRate,
    ]
    try SettingsFolder.write(fields.json.text, to: path)
    return path
  }

  /// Throws if the profile of these devices could not be saved after its search.
  static func check(capture: String, playback: String) throws {
    try SettingsFolder.check(path: try path(capture, playback))
  }

  private static let kind = "profile"

  private static func path(_ capture: String, _ playback: String) throws(ToolFailure) -> String {
    try SettingsFolder.path(
      kind, DeviceIdentity.of(capture) + "--" + DeviceIdentity.of(playback))
  }
}
