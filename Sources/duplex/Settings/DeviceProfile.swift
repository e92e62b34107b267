import AudioDevices
import AudioFiles
import Synchronization

/// The setting that `duplex tune` found for a pair of devices, which audio commands use where none
/// is asked for.
struct DeviceProfile {
  var periodFrames: Int
  var headroomFrames: Int
  var sampleRate: Int

  /// The profile of these devices; nil where none was saved, or where it does not hold at `rate`. One
  /// that cannot be used is left out, with a warning.
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
      warn(of: error.message)
      return nil
    }
    // The same frames take longer at a lower rate, and are safe there as well.
    if let rate, rate > profile.sampleRate { return nil }
    return profile
  }

  init(periodFrames: Int, headroomFrames: Int, sampleRate: Int) {
    self.periodFrames = periodFrames
    self.headroomFrames = headroomFrames
    self.sampleRate = sampleRate
  }

  /// What an object says; nil where it says nothing that any device could do.
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

  private static let hasWarned = Atomic(false)

  /// Says once why a profile is not used: it is looked up several times.
  private static func warn(of reason: String) {
    guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
    Notice.warning(
      "profileUnusable", "The device's saved profile is not used: \(reason)",
      hint: "Save it anew with `duplex tune --save`, or remove the file."
    ).report()
  }

  /// Keeps it for these devices; answers with the file.
  func save(capture: String, playback: String) throws -> String {
    let path = try Self.path(capture, playback)
    let text = JSON.fields([
      ("periodFrames", .integer(periodFrames)), ("headroomFrames", .integer(headroomFrames)),
      ("sampleRate", .integer(sampleRate)),
    ]).text
    try TextFile.write(text + "\n", to: path, makingFolders: true)
    return path
  }

  private static func path(_ capture: String, _ playback: String) throws(ToolFailure) -> String {
    try SettingsFolder.path(
      "profile", DeviceIdentity.of(capture) + "--" + DeviceIdentity.of(playback))
  }
}
