import AudioBasics
import AudioDevices

/// The settings of a simulated device: `sim`, or `sim:key=value,...` as on a command line.
///
/// | key | meaning | default |
/// | --- | --- | --- |
/// | `rate` | sample rate in Hz | 48000 |
/// | `capture-rate` | sample rate of the input in Hz, if it has a separate clock | `rate` |
/// | `channels` | largest number of channels | 2 |
/// | `delay` | delay of the wire from output to microphone in frames, may be fractional | 0 |
/// | `gain` | gain of the wire in dB | 0 |
/// | `invert` | 1 inverts the sign of the samples on the wire | 0 |
/// | `noise` | white noise at the microphone, RMS in dBFS | none |
/// | `drift` | ppm by which the capture clock runs faster than the playback clock | 0 |
/// | `drift-at` | `SECONDS:PPM`, another drift from that time on; may be repeated | |
/// | `batch` | frames by which a clock advances at once, as with a USB device | 1 |
/// | `jitter` | largest delay of a clock's reading in milliseconds | 0 |
/// | `tick` | milliseconds at which the clocks advance, as with the kernel's timer | 0 |
/// | `mic` | a file that is captured as well, looped | none |
/// | `clock` | `real`, or `free` for virtual time | `real` |
/// | `xrun-at` | seconds at which the input overruns; may be repeated | never |
/// | `xrun-frames` | frames that an overrun loses | 480 |
/// | `dry-at` | seconds at which the output runs dry, with two clocks; may be repeated | never |
/// | `unplug-at` | seconds at which the device goes away; may be repeated | never |
/// | `replug-at` | seconds at which the device comes back; may be repeated | never |
/// | `unplug-side` | side that goes away: `capture`, `playback`, `both`; may be repeated | `both` |
///
/// If a key is repeated, its last value is used, except for `xrun-at`, `dry-at`, `drift-at`,
/// `unplug-at`, `replug-at` and `unplug-side`, whose values are collected.
///
/// ```swift
/// let device = try SimulatedDeviceSpecification(parsing: "sim:rate=44100,drift=50")
/// precondition(device.sampleRate == 44100 && device.driftPPM == 50)
/// ```
public struct SimulatedDeviceSpecification: Sendable, Equatable {
  /// The source of the device's time.
  public enum Clock: String, Sendable, CaseIterable {
    /// The host's monotonic clock.
    case real
    /// Virtual time: as fast as the machine allows, and the same in every run.
    case free
  }

  /// The name as it was given, which is the name of the device.
  public var name = "sim"
  /// The sample rate in Hz.
  public var sampleRate = 48000
  /// The sample rate of the input in Hz, if it has a separate clock and another rate; otherwise
  /// nil.
  public var captureRate: Int?
  /// The largest number of channels.
  public var channelCount = 2
  /// The delay from output to microphone in frames, in addition to the frames that the unit queues.
  public var delayFrames = 0.0
  /// The gain from the output to the input.
  public var gain = Gain.unity
  /// Whether the wire inverts the sign of the samples.
  public var isInverted = false
  /// The RMS of the white noise at the microphone; 0 dBFS is an RMS of 1. Nil for no noise.
  public var noiseDBFS: Double?
  /// The drift in parts per million by which the capture clock runs faster than the playback clock.
  public var driftPPM = 0.0
  /// The changes of the drift, in ascending order of time.
  public var driftSteps: [DriftStep] = []
  /// The number of frames by which a clock advances at once.
  public var batchFrames = 1
  /// The largest delay of a clock's reading in milliseconds.
  public var jitterMilliseconds = 0.0
  /// The interval in milliseconds of the host's time at which the clocks advance. No timestamp
  /// reports when they did.
  public var tickMilliseconds = 0.0
  /// The seconds at which the output runs dry, in ascending order.
  public var drySeconds: [Double] = []
  /// The path of a file that is captured at the microphone. It is only stored here: the caller that
  /// opens the device feeds it.
  public var microphonePath: String?
  /// The source of the device's time.
  public var clock = Clock.real
  /// The seconds on the timeline at which the input overruns, in ascending order.
  public var xrunSeconds: [Double] = []
  /// The number of frames that such an overrun loses.
  public var xrunFrames = 480
  /// The seconds at which the device goes away, in ascending order.
  public var unplugSeconds: [Double] = []
  /// The seconds at which it comes back, one for each time; one fewer if it finally stays away.
  public var replugSeconds: [Double] = []
  /// The side of two devices that goes away, for each time. The last value also applies to all
  /// later times. Empty for a single device.
  public var unplugSides: [Side] = []

  /// One of two devices, or both.
  public enum Side: String, Sendable, CaseIterable {
    /// The device that captures, or the one that plays.
    case capture, playback
    /// Both at once.
    case both
  }

  /// An interval in which a device is away.
  struct UnplugInterval: Sendable {
    /// The seconds at which it begins, and at which the device is back: infinity if it stays away.
    let seconds, returnSeconds: Double
    /// The one of two devices that is away.
    let side: Side
  }

  /// All absences, in order.
  var absences: [UnplugInterval] {
    unplugSeconds.enumerated().map { number, seconds in
      UnplugInterval(
        seconds: seconds,
        returnSeconds: number < replugSeconds.count ? replugSeconds[number] : .infinity,
        side: number < unplugSides.count ? unplugSides[number] : unplugSides.last ?? .both)
    }
  }

  /// A change of the drift at a time.
  public struct DriftStep: Sendable, Equatable {
    /// The seconds at which the new drift begins.
    public var seconds: Double
    /// The drift in parts per million by which the capture clock runs faster from then on.
    public var ppm: Double

    /// Creates a drift of `ppm` from `seconds` on.
    public init(seconds: Double, ppm: Double) {
      self.seconds = seconds
      self.ppm = ppm
    }
  }

  /// Whether input and output have two clocks.
  public var hasTwoClocks: Bool {
    captureRate != nil || driftPPM != 0 || !driftSteps.isEmpty || batchFrames != 1
      || jitterMilliseconds != 0 || tickMilliseconds != 0
      || !drySeconds.isEmpty || !unplugSides.isEmpty
  }

  /// Creates the specification that `sim` without settings has.
  public init() {}

  /// Returns whether `name` names a simulated device: `sim`, or a name that begins with `sim:`.
  public static func isSimulated(_ name: String) -> Bool {
    name == "sim" || name.hasPrefix("sim:")
  }
}

extension SimulatedDeviceSpecification {
  /// Parses `sim` or `sim:key=value,...`. Throws `.invalidRequest` if a key or its value is none of
  /// those above.
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

  /// The keys of the settings, in the order in which messages list them.
  public static let keys = [
    "rate", "capture-rate", "channels", "delay", "gain", "invert", "noise", "drift", "drift-at",
    "batch", "jitter", "tick", "mic", "clock", "xrun-at", "xrun-frames", "dry-at", "unplug-at",
    "replug-at", "unplug-side",
  ]
  private static var keyList: String {
    keys.dropLast().joined(separator: ", ") + " and " + (keys.last ?? "")
  }
  private static let maximumSeconds = 1_000_000.0

  /// The ranges of the settings, by their keys.
  private enum Bounds {
    static let channels = DuplexRequest.channelRange
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
      guard let frames = NumberParser.decimal(value) else {
        throw Self.refusal(key, value, "a number of frames, such as 1234.5")
      }
      // The largest delay depends on the rate, so it is checked later.
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

  /// Adds a time and sorts the list.
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

  /// Throws for values of a program that are outside the ranges of the keys.
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
      for seconds in times { try Self.check(key, seconds, 0...Self.maximumSeconds, "seconds") }
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

  /// Throws for settings that are out of range or contradict each other.
  func validate() throws(DeviceFailure) {
    try checkBounds()
    let maximumDelay = max(10 * sampleRate, 480_000)
    guard (0...Double(maximumDelay)).contains(delayFrames) else {
      let written =
        delayFrames == delayFrames.rounded() ? "\(Int(clamping: delayFrames))" : "\(delayFrames)"
      throw Self.refusal("delay", written, "0 to \(maximumDelay) frames at \(sampleRate) Hz")
    }
    // On the real clock the lost frames pass before the device continues.
    let longest = 4 * (captureRate ?? sampleRate)
    guard clock == .free || xrunFrames <= longest else {
      throw Self.refusal(
        "xrun-frames", "\(xrunFrames)", "at most \(longest) frames (4 s), or any with clock=free")
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
    let hertz = NumberParser.wholeHertz(value).map { "\($0)" }
    return try whole(key, hertz ?? value, DuplexRequest.sampleRates, "Hz")
  }

  /// Parses a time in every format except frames, because the rate is not known yet.
  private static func seconds(_ key: String, _ value: String) throws(DeviceFailure) -> Double {
    guard case .seconds(let seconds)? = ParsedTime(value), seconds <= maximumSeconds else {
      throw refusal(key, value, "0 to \(Int(clamping: maximumSeconds)) seconds")
    }
    return seconds
  }

  private static func whole(
    _ key: String, _ value: String, _ allowed: ClosedRange<Int>, _ unit: String
  ) throws(DeviceFailure) -> Int {
    guard let number = NumberParser.whole(value), allowed.contains(number) else {
      throw refusal(key, value, "\(allowed.boundsText) \(unit)")
    }
    return number
  }

  private static func number(
    _ key: String, _ value: String, _ allowed: ClosedRange<Double>, _ unit: String
  ) throws(DeviceFailure) -> Double {
    guard let number = NumberParser.decimal(value), allowed.contains(number) else {
      throw refusal(key, value, "\(allowed.boundsText) \(unit)")
    }
    return number
  }

  private static func refusal(_ key: String, _ value: String, _ allowed: String) -> DeviceFailure {
    DeviceFailure(
      .invalidRequest, "A simulated device cannot have \(key)=\(value).",
      hint: "\(key) takes \(allowed).")
  }
}
