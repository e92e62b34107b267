import AudioDevices
import AudioFiles
import RealtimeAudio
import Synchronization

/// The folder with the tool's settings for devices: `$XDG_CONFIG_HOME/duplex`, or
/// `~/.config/duplex` (XDG Base Directory Specification).
enum SettingsFolder {
  /// Returns the path of a settings file for `key`. Different keys have different paths.
  static func path(_ kind: String, _ key: String) throws(ToolFailure) -> String {
    var name = ""
    for byte in key.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"):
        name.unicodeScalars.append(UnicodeScalar(byte))
      default:
        name += "_" + String(byte, radix: 16)
      }
    }
    // All file systems support names of this length; a hash distinguishes longer ones.
    if name.utf8.count > 180 {
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      name = name.prefix(150) + "-" + String(hash, radix: 16)
    }
    return try folder() + "/\(kind)/\(name).json"
  }

  /// Returns the objects in the settings file `path`; nil if there is no such file. Throws the
  /// errors of `TextFile.read`.
  static func objects(at path: String) throws(FileFailure) -> [JSON]? {
    guard TextFile.exists(path) else { return nil }
    return JSON.objects(in: try TextFile.read(path, limit: maximumByteCount))
  }

  /// Writes `text` to the settings file `path`. Throws the errors of `TextFile.write`.
  static func write(_ text: String, to path: String) throws(FileFailure) {
    do throws(FileFailure) {
      try TextFile.write(text + "\n", to: path, makingFolders: true)
    } catch {
      // The user did not choose this name, so the hint explains the folder.
      guard error.kind == .cannotCreate || error.kind == .permissionDenied else { throw error }
      throw FileFailure(
        error.kind, error.message,
        hint:
          "Settings are saved in this folder: remove what is in the way, or set XDG_CONFIG_HOME to another folder."
      )
    }
  }

  /// The maximum size of a settings file in bytes; saved settings have some hundred bytes.
  static let maximumByteCount = 1_048_576

  /// Returns the path of the folder, even if it does not exist.
  static func folder() throws(ToolFailure) -> String {
    // The specification requires that relative paths are ignored.
    if let home = FileName.variable("XDG_CONFIG_HOME"), home.hasPrefix("/") {
      return home + "/duplex"
    }
    guard let home = FileName.variable("HOME"), !home.isEmpty else {
      throw ToolFailure(
        .cannotCreate, code: "outputRefused",
        "There is no folder for settings: neither XDG_CONFIG_HOME nor HOME is set.",
        hint: "Set one of the two variables.")
    }
    return home + "/.config/duplex"
  }
}

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

  private static func path(_ capture: String, _ playback: String) throws(ToolFailure) -> String {
    try SettingsFolder.path(
      "profile", DeviceIdentity.of(capture) + "--" + DeviceIdentity.of(playback))
  }
}

/// The round trip of a pair of devices, measured once and saved for overdubs: one file for each
/// combination of devices, rate, period and headroom.
struct SavedRoundTrip {
  /// The round trip in frames.
  let frames: Double
  /// The part outside the unit in frames, and the sample rate of both; nil if the file does not
  /// contain them.
  private let externalFrames: Double?
  private let sampleRate: Int?

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

  /// Reads the round trip in one of `objects`. It is at most 10^7 frames, which is more than ten
  /// seconds at any rate, and so is the part outside the unit, so that sums with the latency of a
  /// unit stay small.
  private init(_ objects: [JSON], _ path: String, hint: String) throws(FileFailure) {
    guard let object = objects.last(where: { $0["roundTripFrames"]?.number != nil }),
      let frames = object["roundTripFrames"]?.number
    else {
      throw FileFailure(.unusableContents, "\(path) has no round trip.", hint: hint)
    }
    let external = object["externalFrames"]?.number
    guard (0...1e7).contains(frames), (-1e7...1e7).contains(external ?? 0) else {
      throw FileFailure(
        .unusableContents, "\(path) has a round trip that is out of range.", hint: hint)
    }
    self.frames = frames
    externalFrames = external
    sampleRate = object["sampleRate"]?.whole
  }

  /// Returns the round trip for a unit with another period or headroom: the part outside the unit
  /// is the same. Throws if it was measured at another rate.
  func frames(for configuration: DuplexConfiguration) throws(ToolFailure) -> Double {
    guard let sampleRate, let externalFrames else { return frames }
    guard sampleRate == configuration.sampleRate else {
      throw ToolFailure(
        .unusableInput, code: "inputUnusable",
        "The round trip was measured at \(sampleRate) Hz; this take is at "
          + "\(configuration.sampleRate) Hz.",
        hint:
          "Measure again with `duplex latency -r \(configuration.sampleRate) --save`, or leave out --latency."
      )
    }
    return max(0, externalFrames + configuration.latencyFrames)
  }

  /// Saves `summary` for this configuration. Returns the path of the file.
  static func save(_ summary: Event, for configuration: DuplexConfiguration) throws -> String {
    let path = try path(for: configuration)
    try SettingsFolder.write(summary.json.text, to: path)
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

/// An option that is set by a variable or a file instead of the command line.
struct DefaultOption: Sendable {
  /// The long name, without dashes.
  let option: String
  /// The value, or the values joined by commas, as they were set.
  let value: String
  /// The variable or the file that sets the option.
  let source: String
  /// The line in the file; nil for a variable.
  let line: Int?
  /// The words to be parsed.
  let words: [String]

  /// The fields for events.
  var fields: Fields {
    ["option": option, "value": value, "source": source, "line": line]
  }

  /// The place where the option is set, for messages.
  var location: String { line.map { "\(source), line \($0)" } ?? source }

  /// Returns whether `message` is about this option, or about the device that it names.
  private func isMentioned(in message: String) -> Bool {
    message.contains("--\(option) ") || (option.hasSuffix("device") && message.contains(value))
  }

  /// Returns `failure` with hints to the places of the defaults that it is about, because the user
  /// did not type these options.
  static func naming(_ failure: ToolFailure) -> ToolFailure {
    let mentioned = current.filter { $0.isMentioned(in: failure.message) }
    guard !mentioned.isEmpty else { return failure }
    return failure.adding(
      hint: mentioned.map { "The default of --\($0.option) is set by \($0.location)." }
        .joined(separator: " "))
  }

  private static let applied = MutexBox<[DefaultOption]>([])

  /// The defaults of the running command.
  static var current: [DefaultOption] {
    get { applied.withLock { $0 } }
    set { applied.withLock { $0 = newValue } }
  }
}
