import AudioDevices
import AudioFiles

/// The setting that `duplex tune` found for a pair of devices, which audio commands use where none
/// is asked for.
struct DeviceProfile {
  var periodFrames: Int
  var headroomFrames: Int
  var sampleRate: Int

  /// The profile of these devices; nil where none was saved, or where it does not hold at `rate`.
  static func find(capture: String, playback: String, rate: Int?) -> DeviceProfile? {
    guard let path = try? path(capture, playback), let text = try? TextFile.read(path),
      let period = integer("periodFrames", in: text), period > 0,
      let headroom = integer("headroomFrames", in: text), headroom > 0,
      let profileRate = integer("sampleRate", in: text)
    else { return nil }
    // The same frames take longer at a lower rate, and are safe there as well.
    if let rate, rate > profileRate { return nil }
    return DeviceProfile(
      periodFrames: period, headroomFrames: headroom, sampleRate: profileRate)
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

  private static func integer(_ name: String, in text: String) -> Int? {
    JSON.number(name, in: text).flatMap { Int(exactly: $0) }
  }

  private static func path(_ capture: String, _ playback: String) throws(ToolFailure) -> String {
    try SettingsFolder.path(
      "profile", DeviceIdentity.of(capture) + "--" + DeviceIdentity.of(playback))
  }
}
