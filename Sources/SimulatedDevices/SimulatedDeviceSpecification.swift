import AudioBasics
import AudioDevices

/// The settings of a simulated device: `sim`, or `sim:key=value,...` as on a command line.
///
/// | key | meaning | default |
/// | --- | --- | --- |
/// | `rate` | frames a second | 48000 |
/// | `capture-rate` | frames a second of the input, where it has a clock of its own | `rate` |
/// | `channels` | most channels it has | 2 |
/// | `delay` | frames on the wire from output to microphone, may be fractional | 0 |
/// | `gain` | decibels on the wire | 0 |
/// | `invert` | 1 turns the wire's sign | 0 |
/// | `noise` | white noise at the microphone, RMS in dBFS | none |
/// | `drift` | ppm by which the capture clock runs faster than the playback clock | 0 |
/// | `drift-at` | `SECONDS:PPM`, from when on the drift is another; may be given several times | |
/// | `batch` | frames that a clock moves at once, as a USB device's does | 1 |
/// | `jitter` | milliseconds that a clock's reading may be late | 0 |
/// | `tick` | milliseconds at which its clocks move, as drivers do that go by the kernel's timer | 0 |
/// | `mic` | a file that is heard as well, looped | none |
/// | `clock` | `real`, or `free` for virtual time | `real` |
/// | `xrun-at` | seconds at which the input overruns; may be given several times | never |
/// | `xrun-frames` | frames that an overrun loses | 480 |
/// | `dry-at` | seconds at which the output runs dry, where two clocks are held together | never |
/// | `unplug-at`, `replug-at` | seconds at which the device goes and comes back; may be given several times | never |
/// | `unplug-side` | which of two devices goes, each time: `capture`, `playback` or `both` | `both` |
///
/// Of a key given twice the last one counts, but for `xrun-at`, `dry-at`, `drift-at`, `unplug-at`,
/// `replug-at` and `unplug-side`, which add up.
///
/// ```swift
/// let device = try SimulatedDeviceSpecification(parsing: "sim:rate=44100,drift=50")
/// precondition(device.sampleRate == 44100 && device.driftPPM == 50)
/// ```
public struct SimulatedDeviceSpecification: Sendable, Equatable {
  /// What tells the device the time.
  public enum Clock: String, Sendable, CaseIterable {
    /// The host's monotonic clock.
    case real
    /// Virtual time: as fast as the machine can, and the same every time.
    case free
  }

  /// The name as it was given: what the device is called.
  public var name = "sim"
  /// Frames a second.
  public var sampleRate = 48000
  /// Frames a second of the input, where it has a clock of its own and another rate.
  public var captureRate: Int?
  /// Most channels it has.
  public var channelCount = 2
  /// Frames from output to microphone, on top of what the unit itself keeps queued.
  public var delayFrames = 0.0
  /// The gain from the output to the input.
  public var gain = Gain.unity
  /// Whether the wire turns the sign.
  public var isInverted = false
  /// RMS of the white noise at the microphone; 0 dBFS is an RMS of 1.
  public var noiseDBFS: Double?
  /// Parts per million by which the capture clock runs faster than the playback clock.
  public var driftPPM = 0.0
  /// Another drift from a time on, in rising order.
  public var driftSteps: [DriftStep] = []
  /// Frames that a clock moves at once.
  public var batchFrames = 1
  /// Milliseconds that a clock's reading may be late.
  public var jitterMilliseconds = 0.0
  /// Milliseconds of the host's time at which clocks move; no timestamp says when they did.
  public var tickMilliseconds = 0.0
  /// Seconds at which the output runs dry, in rising order.
  public var drySeconds: [Double] = []
  /// A file heard at the microphone. Kept here only: the caller that opens the device feeds it.
  public var microphonePath: String?
  /// What tells the device the time.
  public var clock = Clock.real
  /// Seconds on the timeline at which the input overruns, in rising order.
  public var xrunSeconds: [Double] = []
  /// Frames that such an overrun loses.
  public var xrunFrames = 480
  /// When the device goes away, in rising order.
  public var unplugSeconds: [Double] = []
  /// When it comes back, each time; one fewer where it stays away at last.
  public var replugSeconds: [Double] = []
  /// Which of two devices goes away, each time: the last one as often as it goes. Empty where it is
  /// one device.
  public var unplugSides: [Side] = []

  /// One of two devices, or both.
  public enum Side: String, Sendable, CaseIterable {
    /// The one that captures, the one that plays.
    case capture, playback
    /// Both at once.
    case both
  }

  /// A time in which a device is away.
  struct Absence: Sendable {
    /// When it begins, and when the device is back: infinity where it stays away.
    let seconds, returnSeconds: Double
    /// Which of two devices it is.
    let side: Side
  }

  /// All of them, in order.
  var absences: [Absence] {
    unplugSeconds.enumerated().map { number, seconds in
      Absence(
        seconds: seconds,
        returnSeconds: number < replugSeconds.count ? replugSeconds[number] : .infinity,
        side: number < unplugSides.count ? unplugSides[number] : unplugSides.last ?? .both)
    }
  }

  /// Another drift from a time on.
  public struct DriftStep: Sendable, Equatable {
    /// When it begins.
    public var seconds: Double
    /// Parts per million by which the capture clock runs faster from then on.
    public var ppm: Double

    /// A drift of `ppm` from `seconds` on.
    public init(seconds: Double, ppm: Double) {
      self.seconds = seconds
      self.ppm = ppm
    }
  }

  /// Whether input and output go by two clocks.
  public var hasTwoClocks: Bool {
    captureRate != nil || driftPPM != 0 || !driftSteps.isEmpty || batchFrames != 1
      || jitterMilliseconds != 0 || tickMilliseconds != 0
      || !drySeconds.isEmpty || !unplugSides.isEmpty
  }

  /// What `sim` alone means.
  public init() {}

  /// Whether `name` names a simulated device: `sim`, or anything that begins with `sim:`.
  public static func isSimulated(_ name: String) -> Bool {
    name == "sim" || name.hasPrefix("sim:")
  }
}

extension SimulatedDeviceSpecification {
  /// Reads `sim` or `sim:key=value,...`.
  /// Throws `.invalidRequest` where a key or its value is none of those above.
  public init(parsing name: String) throws(DeviceFailure) {
    self.init()
    self.name = name
    guard Self.isSimulated(name) else {
      throw DeviceFailure(
        .invalidRequest, "\(name) does not name a simulated device.",
        hint: "Write sim, or sim:key=value,...")
    }
    for setting in name.dropFirst("sim:".count).split(separator: ",") {
      guard let equals = setting.firstIndex(of: "=") else {
        throw DeviceFailure(
          .invalidRequest, "The simulated device's \(setting) has no value.",
          hint: "Write sim:key=value,...; the keys are \(Self.keyList).")
      }
      let value = String(setting[setting.index(after: equals)...])
      try set(String(setting[..<equals]), to: value)
    }
    try validate()
  }

  /// What can be set, in the order in which it is listed.
  public static let keys = [
    "rate", "capture-rate", "channels", "delay", "gain", "invert", "noise", "drift", "drift-at",
    "batch", "jitter", "tick", "mic", "clock", "xrun-at", "xrun-frames", "dry-at", "unplug-at",
    "replug-at", "unplug-side",
  ]
  private static var keyList: String {
    keys.dropLast().joined(separator: ", ") + " and " + (keys.last ?? "")
  }
  private static let longest = 1_000_000.0

  /// What the settings may be, by their keys.
  private enum Bounds {
    static let channels = 1...64
    static let noise = -200.0...0
    static let drift = -10000.0...10000
    static let batch = 1...4096
    static let milliseconds = 0.0...100
    static let xrunFrames = 1...10_000_000
  }

  private mutating func set(_ key: String, to value: String) throws(DeviceFailure) {
    switch key {
    case "rate": sampleRate = try Self.rate(key, value)
    case "capture-rate": captureRate = try Self.rate(key, value)
    case "channels": channelCount = try Self.whole(key, value, Bounds.channels, "channels")
    case "delay":
      guard let frames = WrittenNumber.decimal(value) else {
        throw Self.refusal(key, value, "a number of frames, such as 1234.5")
      }
      // How many there may be depends on the rate.
      delayFrames = frames
    case "gain": gain = Gain(decibels: try Self.number(key, value, Gain.decibelRange, "dB"))
    case "invert": isInverted = try Self.whole(key, value, 0...1, "(no or yes)") == 1
    case "noise": noiseDBFS = try Self.number(key, value, Bounds.noise, "dBFS")
    case "drift": driftPPM = try Self.number(key, value, Bounds.drift, "ppm")
    case "drift-at": try addDriftStep(value)
    case "batch": batchFrames = try Self.whole(key, value, Bounds.batch, "frames")
    case "jitter":
      jitterMilliseconds = try Self.number(key, value, Bounds.milliseconds, "milliseconds")
    case "tick":
      tickMilliseconds = try Self.number(key, value, Bounds.milliseconds, "milliseconds")
    case "mic":
      guard !value.isEmpty else { throw Self.refusal(key, value, "the path of a sound file") }
      microphonePath = value
    case "clock":
      guard let clock = Clock(rawValue: value) else {
        throw Self.refusal(key, value, "real or free")
      }
      self.clock = clock
    case "xrun-at": try Self.add(value, of: key, to: &xrunSeconds)
    case "dry-at": try Self.add(value, of: key, to: &drySeconds)
    case "xrun-frames": xrunFrames = try Self.whole(key, value, Bounds.xrunFrames, "frames")
    case "unplug-side":
      guard let side = Side(rawValue: value) else {
        throw Self.refusal(key, value, "capture, playback or both")
      }
      unplugSides.append(side)
    case "unplug-at": try Self.add(value, of: key, to: &unplugSeconds)
    case "replug-at": try Self.add(value, of: key, to: &replugSeconds)
    default:
      throw DeviceFailure(
        .invalidRequest, "A simulated device has no setting called \(key).",
        hint: "The keys are \(Self.keyList).")
    }
  }

  /// Adds a time, in order.
  private static func add(
    _ value: String, of key: String, to times: inout [Double]
  ) throws(DeviceFailure) {
    times.append(try seconds(key, value))
    times.sort()
  }

  private mutating func addDriftStep(_ value: String) throws(DeviceFailure) {
    let parts = value.split(separator: ":").map(String.init)
    guard parts.count == 2 else { throw Self.refusal("drift-at", value, "SECONDS:PPM") }
    driftSteps.append(
      DriftStep(
        seconds: try Self.seconds("drift-at", parts[0]),
        ppm: try Self.number("drift-at", parts[1], Bounds.drift, "ppm")))
    driftSteps.sort { $0.seconds < $1.seconds }
  }

  /// Refuses what a program has set beyond what the keys take.
  private func checkBounds() throws(DeviceFailure) {
    try Self.check("rate", sampleRate, DuplexRequest.sampleRates, "Hz")
    try Self.check("capture-rate", captureRate ?? sampleRate, DuplexRequest.sampleRates, "Hz")
    try Self.check("channels", channelCount, Bounds.channels, "channels")
    try Self.check("noise", noiseDBFS ?? 0, Bounds.noise, "dBFS")
    try Self.check("batch", batchFrames, Bounds.batch, "frames")
    try Self.check("jitter", jitterMilliseconds, Bounds.milliseconds, "milliseconds")
    try Self.check("tick", tickMilliseconds, Bounds.milliseconds, "milliseconds")
    try Self.check("xrun-frames", xrunFrames, Bounds.xrunFrames, "frames")
    for drift in [driftPPM] + driftSteps.map(\.ppm) {
      try Self.check("drift", drift, Bounds.drift, "ppm")
    }
    for (key, times) in [
      ("xrun-at", xrunSeconds), ("dry-at", drySeconds), ("unplug-at", unplugSeconds),
      ("replug-at", replugSeconds), ("drift-at", driftSteps.map(\.seconds)),
    ] {
      for seconds in times { try Self.check(key, seconds, 0...Self.longest, "seconds") }
      guard zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 }) else {
        throw Self.refusal(key, "\(times)", "times in rising order")
      }
    }
  }

  private static func check<Number: Comparable>(
    _ key: String, _ value: Number, _ allowed: ClosedRange<Number>, _ unit: String
  ) throws(DeviceFailure) {
    guard allowed.contains(value) else {
      throw refusal(key, "\(value)", "\(allowed.lowerBound) to \(allowed.upperBound) \(unit)")
    }
  }

  /// Refuses what contradicts itself.
  func validate() throws(DeviceFailure) {
    try checkBounds()
    let longestDelay = max(10 * sampleRate, 480_000)
    guard (0...Double(longestDelay)).contains(delayFrames) else {
      let written =
        delayFrames == delayFrames.rounded() ? "\(Int(clamping: delayFrames))" : "\(delayFrames)"
      throw Self.refusal("delay", written, "0 to \(longestDelay) frames at \(sampleRate) Hz")
    }
    for (index, back) in replugSeconds.enumerated() {
      let isNext = index < unplugSeconds.count && back > unplugSeconds[index]
      let isBefore = index + 1 >= unplugSeconds.count || back < unplugSeconds[index + 1]
      guard isNext, isBefore else {
        throw Self.refusal("replug-at", "\(back)", "a time after unplug-at, before the next one")
      }
    }
    guard unplugSeconds.count <= replugSeconds.count + 1 else {
      throw Self.refusal(
        "unplug-at", "\(unplugSeconds[replugSeconds.count + 1])", "a time after replug-at")
    }
  }

  private static func rate(_ key: String, _ value: String) throws(DeviceFailure) -> Int {
    let hertz = WrittenNumber.wholeHertz(value).map { "\($0)" }
    return try whole(key, hertz ?? value, DuplexRequest.sampleRates, "Hz")
  }

  /// A time: as everywhere, but that frames are not known before the rate is.
  private static func seconds(_ key: String, _ value: String) throws(DeviceFailure) -> Double {
    guard case .seconds(let seconds)? = WrittenTime(value), seconds <= longest else {
      throw refusal(key, value, "0 to \(Int(clamping: longest)) seconds")
    }
    return seconds
  }

  private static func whole(
    _ key: String, _ value: String, _ allowed: ClosedRange<Int>, _ unit: String
  ) throws(DeviceFailure) -> Int {
    guard let number = WrittenNumber.whole(value), allowed.contains(number) else {
      throw refusal(key, value, "\(allowed.lowerBound) to \(allowed.upperBound) \(unit)")
    }
    return number
  }

  private static func number(
    _ key: String, _ value: String, _ allowed: ClosedRange<Double>, _ unit: String
  ) throws(DeviceFailure) -> Double {
    guard let number = WrittenNumber.decimal(value), allowed.contains(number) else {
      let ends = "\(Int(clamping: allowed.lowerBound)) to \(Int(clamping: allowed.upperBound))"
      throw refusal(key, value, "\(ends) \(unit)")
    }
    return number
  }

  private static func refusal(_ key: String, _ value: String, _ allowed: String) -> DeviceFailure {
    DeviceFailure(
      .invalidRequest, "A simulated device cannot have \(key)=\(value).",
      hint: "\(key) takes \(allowed).")
  }
}
