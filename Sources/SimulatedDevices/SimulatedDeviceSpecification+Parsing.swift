import AudioBasics
import AudioDevices

extension SimulatedDeviceSpecification {
  /// Reads `sim` or `sim:key=value,...`.
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
          hint: "Write sim:key=value,...; the keys are \(Self.keys).")
      }
      let value = String(setting[setting.index(after: equals)...])
      try set(String(setting[..<equals]), to: value)
    }
    try validate()
  }

  private static let keys =
    "rate, capture-rate, channels, delay, gain, invert, noise, drift, drift-at, batch, jitter, tick, mic, "
    + "clock, xrun-at, xrun-frames, dry-at, unplug-at, replug-at and unplug-side"
  private static let longest = 1_000_000.0

  private mutating func set(_ key: String, to value: String) throws(DeviceFailure) {
    switch key {
    case "rate": sampleRate = try Self.rate(key, value)
    case "capture-rate": captureRate = try Self.rate(key, value)
    case "channels": channelCount = try Self.whole(key, value, 1...64, "channels")
    case "delay": delayFrames = try Self.number(key, value, 0...7_680_000, "frames")
    case "gain": gainDB = try Self.number(key, value, -200...60, "dB")
    case "invert": isInverted = try Self.whole(key, value, 0...1, "(no or yes)") == 1
    case "noise": noiseDBFS = try Self.number(key, value, -200...0, "dBFS")
    case "drift": driftPPM = try Self.number(key, value, -10000...10000, "ppm")
    case "drift-at": try addDriftStep(value)
    case "batch": batchFrames = try Self.whole(key, value, 1...4096, "frames")
    case "jitter": jitterMilliseconds = try Self.number(key, value, 0...100, "milliseconds")
    case "tick": tickMilliseconds = try Self.number(key, value, 0...100, "milliseconds")
    case "mic":
      guard !value.isEmpty else { throw Self.refusal(key, value, "the path of a sound file") }
      microphonePath = value
    case "clock":
      guard let clock = Clock(rawValue: value) else {
        throw Self.refusal(key, value, "real or free")
      }
      self.clock = clock
    case "xrun-at":
      xrunSeconds.append(try Self.seconds(key, value))
      xrunSeconds.sort()
    case "dry-at":
      drySeconds.append(try Self.seconds(key, value))
      drySeconds.sort()
    case "xrun-frames": xrunFrames = try Self.whole(key, value, 1...10_000_000, "frames")
    case "unplug-side":
      guard let side = Side(rawValue: value) else {
        throw Self.refusal(key, value, "capture, playback or both")
      }
      unplugSide = side
    case "unplug-at": unplugSeconds = try Self.seconds(key, value)
    case "replug-at": replugSeconds = try Self.seconds(key, value)
    default:
      throw DeviceFailure(
        .invalidRequest, "A simulated device has no setting called \(key).",
        hint: "The keys are \(Self.keys).")
    }
  }

  private mutating func addDriftStep(_ value: String) throws(DeviceFailure) {
    let parts = value.split(separator: ":").map(String.init)
    guard parts.count == 2 else { throw Self.refusal("drift-at", value, "SECONDS:PPM") }
    driftSteps.append(
      DriftStep(
        seconds: try Self.seconds("drift-at", parts[0]),
        ppm: try Self.number("drift-at", parts[1], -10000...10000, "ppm")))
    driftSteps.sort { $0.seconds < $1.seconds }
  }

  /// Refuses what contradicts itself.
  func validate() throws(DeviceFailure) {
    guard delayFrames <= Double(max(10 * sampleRate, 480_000)) else {
      throw Self.refusal("delay", "\(delayFrames)", "0 to \(max(10 * sampleRate, 480_000)) frames")
    }
    guard let replugSeconds else { return }
    guard let unplugSeconds, replugSeconds > unplugSeconds else {
      throw Self.refusal("replug-at", "\(replugSeconds)", "a time after unplug-at")
    }
  }

  private static func rate(_ key: String, _ value: String) throws(DeviceFailure) -> Int {
    let hertz = WrittenNumber.wholeHertz(value).map { "\($0)" }
    return try whole(key, hertz ?? value, 8000...768_000, "Hz")
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
