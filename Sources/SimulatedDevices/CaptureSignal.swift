// Audio thread.

import AudioBasics
import AudioDevices
import RealtimeAudio

/// The signal that the input captures: the loopback, the frames that a feeder queued, and noise, in
/// the device's format.
///
/// Frame m of the feeder is captured at frame m. A frame that is not queued in time is silence.
struct CaptureSignal: ~Copyable, Sendable {
  private(set) var loopback: LoopbackPath
  private var feeder: SampleReader?
  private let hasFeeder: Bool
  private var noise: NoiseSource
  private let isNoisy: Bool
  private var mixed: SampleBuffer
  private var feederFrames: SampleBuffer
  private var captured: DeviceBuffer
  private let periodFrames: Int

  init(
    loopback: consuming LoopbackPath, feeder: consuming SampleReader?, noiseDBFS: Double?,
    format: SampleFormat, channelCount: Int, selection: ChannelSelection?, periodFrames: Int
  ) {
    let hasFeeder = feeder?.frameCount != nil
    self.loopback = loopback
    self.feeder = feeder
    self.hasFeeder = hasFeeder
    noise = NoiseSource(decibels: noiseDBFS ?? -200)
    isNoisy = noiseDBFS != nil
    mixed = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
    feederFrames = SampleBuffer(
      frameCount: hasFeeder ? periodFrames : 0, channelCount: channelCount)
    captured = DeviceBuffer(
      format: format, channelCount: channelCount, frameCount: periodFrames, lending: selection)
    self.periodFrames = periodFrames
  }

  /// Returns the `frames` frames captured from `frame` on.
  @_noLocks
  mutating func capture(_ playedHistory: borrowing PlayedHistoryRing, from frame: Int, frames: Int)
    -> DeviceFrames
  {
    let position = frame &- loopback.wholeDelay
    if loopback.isPlain, !hasFeeder, !isNoisy, playedHistory.isWhole(from: position, frames: frames)
    {
      captured.store(playedHistory.samples, from: playedHistory.slot(of: position), frames: frames)
      return captured.frames(frames)
    }
    loopback.render(playedHistory, from: frame, frames: frames, into: &mixed)
    return finish(from: frame, frames: frames)
  }

  /// Does the same for a wire that drifts: `played` output frames were played at the first frame,
  /// and `step` more at each one after.
  @_noLocks
  mutating func capture(
    _ playedHistory: borrowing PlayedHistoryRing, from frame: Int, frames: Int, played: Double,
    step: Double
  ) -> DeviceFrames {
    loopback.render(playedHistory, played: played, step: step, frames: frames, into: &mixed)
    return finish(from: frame, frames: frames)
  }

  /// Adds the feeder's frames and the noise to the loopback.
  @_noLocks
  private mutating func finish(from frame: Int, frames: Int) -> DeviceFrames {
    if hasFeeder { feed(from: frame, frames: frames) }
    if isNoisy { noise.add(to: &mixed, frames: frames) }
    captured.store(mixed, from: 0, frames: frames)
    return captured.frames(frames)
  }

  @_noLocks
  private mutating func feed(from frame: Int, frames: Int) {
    // Frames that were not captured, because frames were lost or the feeder was late, are skipped.
    guard pass(to: frame) else { return }
    let count = feeder?.read(into: &feederFrames, frames: frames) ?? 0
    mixed.add(feederFrames, frames: count)
  }

  /// Skips the feeder's frames before `frame`. Returns false if not all of them were queued.
  @_noLocks
  mutating func pass(to frame: Int) -> Bool {
    var stale = frame &- (feeder?.frameCount ?? frame)
    while stale > 0 {
      let skipped = feeder?.read(into: &feederFrames, frames: min(stale, periodFrames)) ?? 0
      if skipped == 0 { return false }
      stale &-= skipped
    }
    return true
  }
}

/// White noise, the same in every run: each sample is the sum of four uniformly distributed
/// numbers, which is close to a normal distribution and never more than 3.5 times its RMS.
struct NoiseSource: BitwiseCopyable, Sendable {
  private var numbers = SplitMix64(seed: 0x5EED_0F_50_0D_50_00D5)
  private let scale: Float

  /// Creates noise of the given RMS in dBFS; 0 dBFS is an RMS of 1.
  init(decibels: Double) {
    // The sum of four numbers of 0...65535, each with a variance of (65536^2 - 1) / 12.
    let deviation = ((65536.0 * 65536 - 1) / 3).squareRoot()
    scale = Gain(decibels: decibels).factor / Float(deviation)
  }

  @_noLocks
  private mutating func next() -> Float {
    let word = numbers.next()
    let low = (word & 0xFFFF) &+ (word &>> 16 & 0xFFFF)
    let sum = low &+ (word &>> 32 & 0xFFFF) &+ word &>> 48
    return Float(Int32(truncatingIfNeeded: sum) &- 131_070) * scale
  }

  /// Adds noise to the first `frames` frames, with different noise in each channel.
  @_noLocks
  mutating func add(to buffer: inout SampleBuffer, frames: Int) {
    let count = frames &* buffer.channelCount
    var index = 0
    while index < count {
      buffer[index] += next()
      index &+= 1
    }
  }
}

/// The frames that the output has played and will play, by their positions since the start.
///
/// It is a ring buffer, long enough for all frames that the microphone can still capture. Positions
/// below 0 and from `end` on are silence.
struct PlayedHistoryRing: ~Copyable, Sendable {
  /// The frames, each at the slot of its position.
  private(set) var samples: SampleBuffer
  /// The position after the last frame handed over.
  private(set) var end = 0
  private let capacity: Int
  private var spill: SampleBuffer

  /// Creates a silent history that stores at least `frameCount` frames.
  init(frameCount: Int, channelCount: Int, periodFrames: Int) {
    var capacity = 1
    while capacity < frameCount { capacity *= 2 }
    self.capacity = capacity
    samples = SampleBuffer(frameCount: capacity, channelCount: channelCount)
    spill = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
  }

  /// Returns the slot of the frame at `position`.
  @_noLocks
  func slot(of position: Int) -> Int {
    position & (capacity &- 1)
  }

  /// Returns whether `frames` frames from `position` on are known and contiguous.
  @_noLocks
  func isWhole(from position: Int, frames: Int) -> Bool {
    position &+ frames <= end && slot(of: position) &+ frames <= capacity
  }

  /// Appends the first `frames` frames of `buffer`.
  @_noLocks
  mutating func append(_ buffer: borrowing DeviceBuffer, frames: Int) {
    let first = slot(of: end)
    if first &+ frames <= capacity {
      buffer.load(frames: frames, into: &samples, at: first)
    } else {
      buffer.load(frames: frames, into: &spill, at: 0)
      let beforeWrap = capacity &- first
      samples.replace(at: first, with: spill, from: 0, frames: beforeWrap)
      samples.replace(at: 0, with: spill, from: beforeWrap, frames: frames &- beforeWrap)
    }
    end &+= frames
  }

  /// Keeps the frames played before `position`, discards the frames that were still queued there,
  /// and continues with `frames` frames of silence.
  @_noLocks
  mutating func restart(at position: Int, silence frames: Int) {
    let newEnd = position + frames
    var silent = max(min(end, position), newEnd - capacity)
    while silent < newEnd {
      let run = min(newEnd - silent, capacity - slot(of: silent))
      samples.clear(from: slot(of: silent), frames: run)
      silent += run
    }
    end = newEnd
  }

  /// Fills the first `frames` frames of `buffer` with those from `position` on, multiplied by
  /// `gain`.
  @_noLocks
  func read(from position: Int, frames: Int, times gain: Float, into buffer: inout SampleBuffer) {
    let known = max(0, min(frames, end &- position))
    var done = 0
    while done < known {
      let first = slot(of: position &+ done)
      let run = min(known &- done, capacity &- first)
      buffer.replace(at: done, with: samples, from: first, frames: run)
      done &+= run
    }
    buffer.clear(from: known, frames: frames &- known)
    if gain != 1 { buffer.scale(frames: frames, by: gain) }
  }
}
