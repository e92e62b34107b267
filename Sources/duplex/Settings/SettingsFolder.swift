import AudioDevices
import AudioFiles
import RealtimeAudio
import Synchronization

/// The folder in which the tool saves what it has learnt about devices: `$XDG_CONFIG_HOME/duplex`,
/// or `~/.config/duplex` (XDG Base Directory Specification).
enum SettingsFolder {
  /// The path of a settings file for `key`, a text in which every character is kept apart.
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
    // The longest name that every file system takes, and what makes long ones differ.
    if name.utf8.count > 180 {
      var hash: UInt64 = 0xCBF2_9CE4_8422_2325
      for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      name = name.prefix(150) + "-" + String(hash, radix: 16)
    }
    return try folder() + "/\(kind)/\(name).json"
  }

  /// The objects in the settings file `path`; nil where there is no such file. Throws as
  /// `TextFile.read` does.
  static func objects(at path: String) throws(FileFailure) -> [JSON]? {
    guard TextFile.exists(path) else { return nil }
    return JSON.objects(in: try TextFile.read(path, limit: longestText))
  }

  /// Makes `text` the settings file `path`. Throws as `TextFile.write` does.
  static func write(_ text: String, to path: String) throws(FileFailure) {
    do throws(FileFailure) {
      try TextFile.write(text + "\n", to: path, makingFolders: true)
    } catch {
      // The user did not choose this name: the hint says where the file is and why.
      guard error.kind == .cannotCreate || error.kind == .permissionDenied else { throw error }
      throw FileFailure(
        error.kind, error.message,
        hint:
          "Settings are saved in this folder: remove what is in the way, or set XDG_CONFIG_HOME to another folder."
      )
    }
  }

  /// Bytes of settings that are read; what was saved has hundreds.
  static let longestText = 1_048_576

  /// The folder, whether it is there or not.
  static func folder() throws(ToolFailure) -> String {
    // Relative paths there are to be ignored, says the specification.
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

/// The setting that `duplex tune` found for a pair of devices, which audio commands use where none
/// is asked for.
struct DeviceProfile {
  var periodFrames: Int
  var headroomFrames: Int
  var sampleRate: Int

  /// The profile of these devices; nil where none was saved, or where it does not hold at `rate`.
  /// One that cannot be used is left out, with a warning.
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
  private static func reportUnusable(_ reason: String) {
    guard !hasWarned.exchange(true, ordering: .relaxed) else { return }
    warn(
      "profileUnusable", "The device's saved profile is not used: \(reason)",
      hint: "Remove the file, then save a new profile with `duplex tune --save`.")
  }

  /// Keeps it for these devices; answers with the file.
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

/// The round trip of a pair of devices, measured once and kept for overdubs: one file for each
/// setting of identity, rate, period and headroom.
struct SavedRoundTrip {
  /// The round trip in frames.
  let frames: Double
  /// Its part outside the unit, and the rate of both; nil where the text does not say.
  private let externalFrames: Double?
  private let sampleRate: Int?

  /// What was saved for this setting; nil where nothing was. Throws where what was saved cannot be
  /// used.
  static func find(_ configuration: DuplexConfiguration) throws -> SavedRoundTrip? {
    guard let path = try? path(for: configuration) else { return nil }
    let hint = "Remove the file, then measure again with `duplex latency --save`."
    let objects: [JSON]?
    do throws(FileFailure) {
      objects = try SettingsFolder.objects(at: path)
    } catch {
      // The user did not choose this name: the hint says where the file is and why.
      throw FileFailure(error.kind, error.message, hint: hint)
    }
    return try objects.map { try SavedRoundTrip($0, path, hint: hint) }
  }

  /// The round trip in a file: one saved here, or what `latency --json` printed.
  init(file path: String) throws {
    let text = try TextFile.read(path, limit: SettingsFolder.longestText)
    try self.init(
      JSON.objects(in: text), path,
      hint: "Use the output of `duplex latency --json`, or a file of `duplex latency --save`.")
  }

  /// The round trip that one of `objects` names. It is at most 10^7 frames, more than ten seconds
  /// at any rate, and what lies outside the unit is no longer: sums with a unit's own latency stay
  /// small.
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

  /// The round trip for a unit of another period or headroom: what lies outside stays the same.
  /// Throws where it was measured at another rate.
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

  /// Keeps what `summary` says for this setting; answers with the file.
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

/// An option that the user did not write, but has set for all runs.
struct DefaultOption: Sendable {
  /// Its long name, without dashes.
  let option: String
  /// Its value, or values, as they were set.
  let value: String
  /// The variable or the file that sets it.
  let source: String
  /// The line in the file.
  let line: Int?
  /// The words for the parser.
  let words: [String]

  /// For events.
  var fields: Fields {
    ["option": option, "value": value, "source": source, "line": line]
  }

  /// Where it is set, for sentences.
  var place: String { line.map { "\(source), line \($0)" } ?? source }

  /// Whether `message` is about its option, or about the device that it names.
  private func isMeant(in message: String) -> Bool {
    message.contains("--\(option) ") || (option.hasSuffix("device") && message.contains(value))
  }

  /// `failure` with the places of those defaults that it is about: who typed no such option looks
  /// there.
  static func naming(_ failure: ToolFailure) -> ToolFailure {
    let meant = current.filter { $0.isMeant(in: failure.message) }
    guard !meant.isEmpty else { return failure }
    return failure.adding(
      hint: meant.map { "The default of --\($0.option) is set by \($0.place)." }
        .joined(separator: " "))
  }

  private static let applied = MutexBox<[DefaultOption]>([])

  /// Those of the command that runs.
  static var current: [DefaultOption] {
    get { applied.withLock { $0 } }
    set { applied.withLock { $0 = newValue } }
  }
}
