import AudioBasics
import AudioDevices
import AudioSessions
import DelayEstimation
import RealtimeAudio

/// The plan of a round-trip measurement: channels, repeats and level.
public struct ProbePlan: Sendable {
  /// The rate of the unit, in frames per second.
  public var sampleRate: Int
  /// The number of input channels.
  public var captureChannels: Int
  /// The number of output channels.
  public var playbackChannels: Int
  /// The part of the round trip that the unit itself causes, in frames.
  public var unitLatencyFrames: Double
  /// The output channel that plays, from 0, or nil for one after the other.
  public var fromChannel: Int?
  /// The input channel that is evaluated, from 0, or nil for all.
  public var toChannel: Int?
  /// The number of measurements for each output channel.
  public var repeats = 5
  /// The highest peak that may be played, in dBFS.
  public var levelCapDBFS = -12.0
  /// The arrival whose delay is measured.
  public var choice = DelayEstimator.Choice.strongest
  /// Whether the first estimate of each pair contains its curves.
  public var draws = false

  /// Creates a plan for a unit with these channels, at `sampleRate` Hz.
  public init(
    sampleRate: Int, captureChannels: Int, playbackChannels: Int, unitLatencyFrames: Double
  ) {
    self.sampleRate = sampleRate
    self.captureChannels = captureChannels
    self.playbackChannels = playbackChannels
    self.unitLatencyFrames = unitLatencyFrames
  }

  /// Creates a plan for a unit with the granted configuration.
  public init(_ configuration: DuplexConfiguration) {
    self.init(
      sampleRate: configuration.sampleRate,
      captureChannels: configuration.capture?.channelCount ?? 0,
      playbackChannels: configuration.playback?.channelCount ?? 0,
      unitLatencyFrames: configuration.latencyFrames)
  }

  /// The peaks to try, in dBFS, from a quiet one up to the cap.
  var levels: [Double] {
    Array(stride(from: -48.0, to: levelCapDBFS, by: 12)) + [levelCapDBFS]
  }

  /// The output channels that play.
  var fromChannels: [Int] { fromChannel.map { [$0] } ?? Array(0..<playbackChannels) }

  /// The input channels that are evaluated.
  var toChannels: [Int] { toChannel.map { [$0] } ?? Array(0..<captureChannels) }

  /// The longest round trip that is found, in frames: two seconds, or 96,000 frames if that is
  /// longer, plus the latency of the unit.
  var rangeFrames: Int { max(2 * sampleRate, 96_000) + Int(clamping: unitLatencyFrames) }

  /// The number of frames of the burst that determines only whether there is a signal, and its
  /// level.
  var searchFrames: Int { sampleRate / 4 }

  /// The number of frames of the burst that measures: one second.
  var probeFrames: Int { sampleRate }

  /// The number of frames after the burst in which echoes are received.
  var tailFrames: Int {
    if case .first = choice { return sampleRate / 2 }
    return sampleRate / 4
  }
}

/// Both halves of a measurement: the callbacks for a device, and the listener, which is stepped on
/// another thread. Created and taken apart on any thread but the audio thread.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free,delay=300"))
/// let granted = opened.configuration
/// var probe = ProbeSession(ProbePlan(granted), periodFrames: granted.periodFrames)
/// let listener = probe.listener
/// if let callbacks = probe.takeCallbacks() {
///   try opened.run(callbacks, background: [listener]) { _, _ in
///     listener.isDone ? .stop(.end) : .proceed
///   }
/// }
/// let frames = listener.result.main?.frames.first ?? 0
/// precondition(abs(frames - granted.latencyFrames - 300) < 1)
/// ```
public struct ProbeSession: ~Copyable {
  /// The half off the audio thread: it determines the level and evaluates the recording.
  public let listener: ProbeListener
  private var callbacks: ProbeCallbacks?

  /// Creates a measurement by `plan` on a unit with this period. The program ends with a message if
  /// the plan has no input or output channels, uses a channel that the unit does not have, has a
  /// level that is not a finite number, or has a rate, a period, a latency or channels that no unit
  /// has, or more than 10,000 measurements.
  public init(_ plan: ProbePlan, periodFrames: Int) {
    requirement(
      plan.sampleRate > 0 && plan.captureChannels > 0 && plan.playbackChannels > 0
        && periodFrames > 0,
      "A probe needs a rate, a period, and channels of an input and an output.")
    // Four periods are allocated for each channel. No period of a unit is as long as this limit,
    // which is that of a burst.
    requirement(
      plan.sampleRate <= DuplexRequest.sampleRates.upperBound && periodFrames <= 1 << 24
        && max(plan.captureChannels, plan.playbackChannels) <= SampleBuffer.maximumChannels,
      "A probe has at most 768000 Hz, 16777216 frames in a period, and 1024 channels each way.")
    requirement(
      (0..<plan.playbackChannels).contains(plan.fromChannel ?? 0)
        && (0..<plan.captureChannels).contains(plan.toChannel ?? 0),
      "A probe can only use channels that the unit has, counted from 0.")
    requirement(
      plan.levelCapDBFS.isFinite && plan.levelCapDBFS <= 0 && plan.repeats > 0,
      "A probe needs a level of at most 0 dBFS, and one measurement or more.")
    requirement(
      plan.repeats <= RoundTripSettings.repeatRange.upperBound
        && (0...Double(1 << 24)).contains(plan.unitLatencyFrames),
      "A probe has at most 10000 measurements, and a unit with a latency of 0 to 16777216 frames.")
    let burst = max(plan.probeFrames, plan.searchFrames)
    let sound = SampleWriter(frameCount: burst, channelCount: plan.playbackChannels)
    // Four seconds, the longest time of an estimate on a slow machine.
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

  /// Returns the audio-thread half on the first call, and nil afterwards.
  public mutating func takeCallbacks() -> ProbeCallbacks? {
    callbacks.take()
  }
}
