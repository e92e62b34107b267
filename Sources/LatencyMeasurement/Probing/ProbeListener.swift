import AudioBasics
import AudioDevices
import AudioSessions
import DelayEstimation
import RealtimeAudio
import Synchronization

/// The evaluating half of a measurement: it measures the noise, plays short bursts at increasing
/// levels until one is received well enough, then measures, channel by channel.
///
/// A burst during which frames were lost is discarded and played again.
public final class ProbeListener: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; the result is read after the last step.
  private enum Stage {
    case noise
    /// A short burst at the level with this index was queued. `attempts` is the number of
    /// evaluations so far.
    case search(level: Int, attempts: Int)
    /// A measurement with the output channel of this index.
    case measure(channel: Int, number: Int)
    /// Frames were lost. Waits until the queued frames are played, up to this captured frame.
    case settle(until: Int?)
    case done
  }

  private let plan: ProbePlan
  private var sound: SampleWriter
  private let soundFrames: Int
  private var capture: ProbeRecording
  private var estimator = DelayEstimator()
  private var stage = Stage.noise
  private var afterSettling = Stage.noise
  private var level = 0
  private var seed: UInt64 = 0
  /// The round trip in frames, as far as it is known.
  private var roundTrip: Int?
  private let finished = AtomicFlag()
  private let measured = Atomic(0)
  private let concluded = AtomicFlag()

  /// The results. Complete when `isDone`.
  public private(set) var result = RoundTrips()

  /// Creates a listener that measures by `plan`, with callbacks at the other end of these rings.
  /// `sound` must have room for the plan's burst.
  public init(
    plan: ProbePlan, sound: consuming SampleWriter, ring: consuming SampleReader,
    gaps: consuming EventReader<TimelineEvent>
  ) {
    self.plan = plan
    soundFrames = sound.room
    self.sound = sound
    self.capture = ProbeRecording(
      ring: ring, gaps: gaps, captureChannels: plan.captureChannels,
      playbackChannels: plan.playbackChannels)
    self.capture.playedChannel = plan.fromChannels.first ?? 0
    estimator.choice = plan.choice
  }

  /// Whether the measurement is complete. Any thread.
  public var isDone: Bool { finished.isRaised }

  /// The fraction of the plan's measurements that is done, from 0 to 1. Any thread.
  public var done: Double {
    Double(measured.load(ordering: .relaxed)) / Double(max(1, measurementCount))
  }

  private var measurementCount: Int { plan.fromChannels.count * plan.repeats }

  /// Ends the measurement at the next step.
  public func conclude() { concluded.raise() }

  /// Evaluates the frames received. Returns false once the measurement has ended.
  public func step() -> Bool {
    // Checked before `drain`: after the end, the ring contains all remaining frames.
    let isLast = capture.isFinished || concluded.isRaised
    capture.drain()
    advance()
    if case .done = stage { finished.raise() }
    return !isLast && !finished.isRaised
  }

  private func advance() {
    switch stage {
    case .noise: listen()
    case .search(let level, let attempts): search(level, attempts)
    case .measure(let channel, let number): measure(channel, number)
    case .settle(let end): settle(until: end)
    case .done: capture.clear()
    }
  }

  /// Measures the noise for 300 ms, while nothing is played.
  private func listen() {
    if capture.hasGap { capture.clear() }
    guard capture.frames >= plan.sampleRate * 3 / 10 else { return }
    for channel in plan.toChannels {
      let power = capture.captured[channel].reduce(0.0) { $0 + Double($1) * Double($1) }
      let level = Decibels.level(Float((power / Double(max(1, capture.frames))).squareRoot()))
      result.noiseDBFS = max(result.noiseDBFS, level)
    }
    playSearch(0)
  }

  // MARK: A burst to find the level

  private func playSearch(_ level: Int) {
    self.level = level
    // A silent probe cannot be found in the recording, because its first frame is detected as the
    // first frame that is not zero.
    guard Gain(decibels: plan.levels[level]) != .silence else {
      stage = .done
      return
    }
    stage = .search(level: level, attempts: 0)
    play(plan.searchFrames, on: plan.fromChannels)
  }

  private func search(_ level: Int, _ attempts: Int) {
    guard !hasLostFrames(.search(level: level, attempts: 0)) else { return }
    // Short round trips are found soon. The whole range is recorded only if nothing was found.
    let waits = [plan.sampleRate / 10, plan.sampleRate / 2, plan.rangeFrames]
    guard let start = capture.firstPlayed,
      capture.frames >= start + plan.searchFrames + waits[attempts]
    else { return }
    let best = estimates(from: start, frames: plan.searchFrames, lags: waits[attempts])
      .map(\.estimate).max { $0.signalToNoiseDB < $1.signalToNoiseDB }
    if let best {
      roundTrip = Int(clamping: best.delayFrames)
      // A louder burst is more accurate, until there is nothing to gain or the input is overdriven.
      let isOverdriven = result.isClipped && best.signalToNoiseDB > 6
      if best.boundFrames < 0.001 || isOverdriven || level + 1 == plan.levels.count {
        if isOverdriven, level > 0 { self.level = level - 1 }
        result.isClipped = false
        playMeasurement(0, 0)
      } else {
        playSearch(level + 1)
      }
    } else if attempts + 1 < waits.count {
      stage = .search(level: level, attempts: attempts + 1)
    } else if level + 1 < plan.levels.count {
      playSearch(level + 1)
    } else {
      stage = .done
    }
  }

  // MARK: A burst that measures

  private func playMeasurement(_ channel: Int, _ number: Int) {
    measured.store(min(channel * plan.repeats + number, measurementCount), ordering: .relaxed)
    guard channel < plan.fromChannels.count else {
      stage = .done
      return
    }
    guard number < plan.repeats else { return playMeasurement(channel + 1, 0) }
    stage = .measure(channel: channel, number: number)
    capture.playedChannel = plan.fromChannels[channel]
    play(plan.probeFrames, on: [plan.fromChannels[channel]])
  }

  private func measure(_ channel: Int, _ number: Int) {
    guard !hasLostFrames(.measure(channel: channel, number: number)) else { return }
    let lags = (roundTrip ?? plan.rangeFrames) + plan.tailFrames
    guard let start = capture.firstPlayed, capture.frames >= start + plan.probeFrames + lags else {
      return
    }
    estimator.draws = plan.draws && number == 0
    // What was captured before it was played is another signal that resembles the probe.
    let found = estimates(from: start, frames: plan.probeFrames, lags: lags)
      .filter { $0.1.delayFrames >= 0 }
    for (to, estimate) in found {
      result.add(estimate, from: plan.fromChannels[channel], to: to)
    }
    if found.isEmpty && number == 0 {
      // This output is not connected.
      playMeasurement(channel + 1, 0)
    } else {
      if found.isEmpty { result.rejected += 1 }
      playMeasurement(channel, number + 1)
    }
  }

  // MARK: Both

  private func play(_ frames: Int, on channels: [Int]) {
    seed += 1
    let peak = plan.levels[level]
    result.levelDBFS = max(result.levelDBFS, peak)
    let burst = ProbeSignal(
      seed: seed, frames: frames, rampFrames: plan.sampleRate / 200
    ).samples
    let gain = Gain(decibels: peak).factor
    var buffer = SampleBuffer(frameCount: frames, channelCount: plan.playbackChannels)
    for frame in 0..<frames {
      for channel in channels {
        buffer[frame * plan.playbackChannels + channel] = burst[frame] * gain
      }
    }
    capture.clear()
    _ = sound.write(buffer, frames: frames)
  }

  private func estimates(from start: Int, frames: Int, lags: Int)
    -> [(to: Int, estimate: DelayEstimate)]
  {
    let reference = Array(capture.played[start..<start + frames])
    return plan.toChannels.compactMap { channel in
      let recording = Array(
        capture.captured[channel][start..<min(capture.frames, start + frames + lags)])
      if recording.contains(where: { abs($0) >= 0.999 }) { result.isClipped = true }
      return estimator.estimate(
        reference: reference.span, in: recording.span, lags: -1..<lags
      ).map { (channel, $0) }
    }
  }

  /// Returns whether frames were lost. In that case `stage` is repeated after the queue is empty.
  private func hasLostFrames(_ stage: Stage) -> Bool {
    guard capture.hasGap else { return false }
    result.rejected += 1
    // Give up on a device that loses frames continuously.
    afterSettling = result.rejected > 10 + 3 * plan.repeats ? .done : stage
    self.stage = .settle(until: nil)
    return true
  }

  private func settle(until end: Int?) {
    guard let end else {
      guard sound.room == soundFrames else { return }
      capture.clear()
      stage = .settle(until: (roundTrip ?? 0) + plan.tailFrames)
      return
    }
    guard capture.frames >= end else { return }
    switch afterSettling {
    case .search(let level, _): playSearch(level)
    case .measure(let channel, let number): playMeasurement(channel, number)
    case .noise, .settle, .done: stage = .done
    }
  }
}
