import AudioBasics
import AudioDevices
import AudioSessions
import DelayEstimation
import RealtimeAudio

/// The plan of a round-trip measurement: channels, repeats and level.
public struct ProbePlan: Sendable {
  /// Frames a second of the unit.
  public var sampleRate: Int
  /// Channels of the input.
  public var captureChannels: Int
  /// Channels of the output.
  public var playbackChannels: Int
  /// The unit's own part of the round trip, in frames.
  public var unitLatencyFrames: Double
  /// The output channel that plays, from 0; nil for one after the other.
  public var fromChannel: Int?
  /// The input channel that listens, from 0; nil for all.
  public var toChannel: Int?
  /// Measurements for each output channel.
  public var repeats = 5
  /// The highest peak that may be played, in dBFS.
  public var levelCapDBFS = -12.0
  /// Which arrival is the answer.
  public var choice = DelayEstimator.Choice.strongest
  /// Whether the first estimate of each pair brings its curves along.
  public var draws = false

  /// A plan for a unit of this shape, at `sampleRate` Hz.
  public init(
    sampleRate: Int, captureChannels: Int, playbackChannels: Int, unitLatencyFrames: Double
  ) {
    self.sampleRate = sampleRate
    self.captureChannels = captureChannels
    self.playbackChannels = playbackChannels
    self.unitLatencyFrames = unitLatencyFrames
  }

  /// A plan for a unit as it was granted.
  public init(_ configuration: DuplexConfiguration) {
    self.init(
      sampleRate: configuration.sampleRate,
      captureChannels: configuration.capture?.channelCount ?? 0,
      playbackChannels: configuration.playback?.channelCount ?? 0,
      unitLatencyFrames: configuration.latencyFrames)
  }

  /// Peaks to be tried, in dBFS, from a quiet one up to the cap.
  var levels: [Double] {
    Array(stride(from: -48.0, to: levelCapDBFS, by: 12)) + [levelCapDBFS]
  }

  /// The output channels that play.
  var fromChannels: [Int] { fromChannel.map { [$0] } ?? Array(0..<playbackChannels) }

  /// The input channels that listen.
  var toChannels: [Int] { toChannel.map { [$0] } ?? Array(0..<captureChannels) }

  /// The longest round trip that is found: two seconds, or 96,000 frames where that is longer.
  var rangeFrames: Int { max(2 * sampleRate, 96_000) + Int(clamping: unitLatencyFrames) }

  /// Frames of the burst that only finds out whether there is a signal, and how loud.
  var searchFrames: Int { sampleRate / 4 }

  /// Frames of the burst that measures: a second.
  var probeFrames: Int { sampleRate }

  /// Frames in which echoes come in after the burst.
  var tailFrames: Int {
    if case .first = choice { return sampleRate / 2 }
    return sampleRate / 4
  }
}

/// The two halves of a measurement, joined: the callbacks for a device, and the listener to be
/// stepped beside it. Made and taken apart on any thread but the audio thread.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free,delay=300"))
/// let granted = opened.configuration
/// var probe = ProbeSession(ProbePlan(granted), periodFrames: granted.periodFrames)
/// let listener = probe.listener
/// if let callbacks = probe.takeCallbacks() {
///   let runner = SessionRunner(
///     device: opened.device, callbacks: callbacks, background: opened.background + [listener],
///     meter: nil, frameLimit: nil)
///   _ = try runner.run(clock: opened.clock) { _, _ in listener.isDone ? .stop(.end) : .proceed }
/// }
/// let frames = listener.result.main?.frames.first ?? 0
/// precondition(abs(frames - granted.latencyFrames - 300) < 1)
/// ```
public struct ProbeSession: ~Copyable {
  /// The half off the audio thread: finds the level and evaluates.
  public let listener: ProbeListener
  private var callbacks: ProbeCallbacks?

  /// A measurement by `plan` on a unit of this period. A plan for a unit without an input or an
  /// output, with a channel that the unit has not, or with a level that is no finite number, ends
  /// the program with a sentence.
  public init(_ plan: ProbePlan, periodFrames: Int) {
    requirement(
      plan.sampleRate > 0 && plan.captureChannels > 0 && plan.playbackChannels > 0
        && periodFrames > 0,
      "A probe needs a rate, a period, and channels of an input and an output.")
    requirement(
      (0..<plan.playbackChannels).contains(plan.fromChannel ?? 0)
        && (0..<plan.captureChannels).contains(plan.toChannel ?? 0),
      "A probe can only use channels that the unit has, counted from 0.")
    requirement(
      plan.levelCapDBFS.isFinite && plan.levelCapDBFS <= 0 && plan.repeats > 0,
      "A probe needs a level of at most 0 dBFS, and one measurement or more.")
    let burst = max(plan.probeFrames, plan.searchFrames)
    let sound = SampleWriter(frameCount: burst, channelCount: plan.playbackChannels)
    // Four seconds: as long as an estimate may take on a slow machine.
    let ring = SampleWriter(
      frameCount: 4 * max(plan.sampleRate, periodFrames),
      channelCount: plan.captureChannels + plan.playbackChannels)
    let gaps = EventWriter<TimelineEvent>()
    let reader = sound.makeReader()
    listener = ProbeListener(
      plan: plan, sound: sound, ring: ring.makeReader(), gaps: gaps.makeReader())
    callbacks = ProbeCallbacks(
      sound: reader, recorder: Recorder(ring: ring, gaps: gaps), periodFrames: periodFrames,
      captureChannels: plan.captureChannels, playbackChannels: plan.playbackChannels)
  }

  /// The audio thread's half, once.
  public mutating func takeCallbacks() -> ProbeCallbacks? {
    callbacks.take()
  }
}
