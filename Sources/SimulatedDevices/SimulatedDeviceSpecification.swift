/// What a simulated device is like: `sim`, or `sim:key=value,...` as it stands on a command line.
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
/// | `unplug-at`, `replug-at` | seconds at which the device goes and comes back | never |
/// | `unplug-side` | which of two devices goes: `capture`, `playback` or `both` | `both` |
///
/// Of a key given twice the last one counts, but for `xrun-at`, `dry-at` and `drift-at`, which add
/// up.
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
  /// Decibels on the wire.
  public var gainDB = 0.0
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
  /// Milliseconds of the host's time at which clocks move, and nobody says when that was.
  public var tickMilliseconds = 0.0
  /// Seconds at which the output runs dry, in rising order.
  public var drySeconds: [Double] = []
  /// A file heard at the microphone. Carried only: who opens the device feeds it.
  public var microphonePath: String?
  /// What tells the device the time.
  public var clock = Clock.real
  /// Seconds on the timeline at which the input overruns, in rising order.
  public var xrunSeconds: [Double] = []
  /// Frames that such an overrun loses.
  public var xrunFrames = 480
  /// When the device goes away.
  public var unplugSeconds: Double?
  /// When it comes back.
  public var replugSeconds: Double?
  /// Which of two devices goes away; nil where it is one device.
  public var unplugSide: Side?

  /// One of two devices, or both.
  public enum Side: String, Sendable, CaseIterable {
    /// The one that captures, the one that plays.
    case capture, playback
    /// Both at once.
    case both
  }

  /// Another drift from a time on.
  public struct DriftStep: Sendable, Equatable {
    /// When it begins.
    public var seconds: Double
    /// Parts per million by which the capture clock runs faster from then on.
    public var ppm: Double
  }

  /// Whether input and output go by two clocks.
  public var hasTwoClocks: Bool {
    captureRate != nil || driftPPM != 0 || !driftSteps.isEmpty || batchFrames != 1
      || jitterMilliseconds != 0 || tickMilliseconds != 0
      || !drySeconds.isEmpty || unplugSide != nil
  }

  /// What `sim` alone means.
  public init() {}

  /// Whether `name` names a simulated device: `sim`, or anything that begins with `sim:`.
  public static func isSimulated(_ name: String) -> Bool {
    name == "sim" || name.hasPrefix("sim:")
  }
}
