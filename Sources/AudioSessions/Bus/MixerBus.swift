// Audio thread.
import AudioBasics
import AudioDevices

/// The frames of one cycle as they pass through the stages of a mixer. Audio thread.
public struct MixerBus: ~Copyable {
  /// The samples; the first `frames` frames are those of the cycle.
  public var buffer: SampleBuffer
  /// The number of frames in the cycle.
  public private(set) var frames = 0
  /// The cycle's position on the timeline, and its time.
  public private(set) var time = CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0)
  /// Whether all frames of the cycle are silence.
  public private(set) var isSilent = false
  /// The highest magnitude of the frames, or an upper bound of it; infinity if unknown. Stages that
  /// can raise levels reset it.
  public var peakBound = Float.infinity
  /// The number of samples of the cycle that were NaN or infinite, and that a stage has replaced by
  /// silence.
  var silencedSamples = 0

  /// Creates a bus for at most `periodFrames` frames a cycle.
  public init(periodFrames: Int, channelCount: Int) {
    buffer = SampleBuffer(frameCount: periodFrames, channelCount: channelCount)
  }

  /// Begins a cycle of `frames` frames, whose contents are undefined.
  @_noLocks
  public mutating func begin(frames: Int, at time: CycleTime) {
    self.frames = frames
    self.time = time
    isSilent = false
    peakBound = .infinity
    silencedSamples = 0
  }

  /// Shortens the cycle to its first `count` frames.
  @_noLocks
  mutating func shorten(to count: Int) {
    frames = min(frames, count)
  }

  /// Sets all frames to silence.
  @_noLocks
  public mutating func clear() {
    buffer.clear(frames: frames)
    isSilent = true
    peakBound = 0
  }

  /// Measures the highest magnitude of the frames, unless a bound is known.
  @_noLocks
  mutating func measurePeak() {
    if peakBound == .infinity { peakBound = buffer.peak(frames: frames) }
  }

  /// Throws `.invalidRequest` if the bus does not fit `stream`, the `noun` (input or output) of a
  /// unit with this period.
  func check(_ stream: StreamConfiguration?, _ noun: String, _ periodFrames: Int)
    throws(DeviceFailure)
  {
    guard let stream else { return }
    guard buffer.channelCount == stream.channelCount else {
      throw DeviceFailure(
        .invalidRequest,
        "The mixer has \(buffer.channelCount.counted("channel")) for the \(noun), which has \(stream.channelCount).",
        hint: "Make the mixer with the numbers of the device's configuration.")
    }
    guard buffer.frameCount >= periodFrames else {
      throw DeviceFailure(
        .invalidRequest,
        "The mixer is for periods of \(buffer.frameCount) frames, and the device has \(periodFrames).",
        hint: "Make the mixer with the numbers of the device's configuration.")
    }
  }

  /// Prepares for a change of the samples by code that does not update `isSilent` and `peakBound`.
  @_noLocks
  mutating func beginChange() {
    isSilent = false
    peakBound = .infinity
  }

  /// Adds the first `count` frames of `sound`, whose contents are undefined afterwards. Frames
  /// beyond those of the cycle are not played.
  @_noLocks
  public mutating func add(_ sound: inout SampleBuffer, frames count: Int) {
    guard count > 0 else { return }
    peakBound = .infinity
    if isSilent && sound.frameCount == buffer.frameCount {
      sound.clear(from: count, frames: max(0, frames &- count))
      swap(&buffer, &sound)
    } else {
      buffer.add(sound, frames: count)
    }
    isSilent = false
  }

  /// Takes over the frames of `other`, which are undefined afterwards; silence if it has another
  /// number of frames.
  @_noLocks
  public mutating func take(_ other: inout MixerBus) {
    if other.frames != frames {
      clear()
    } else if other.buffer.channelCount == buffer.channelCount {
      swap(&buffer, &other.buffer)
      peakBound = other.peakBound
    } else {
      buffer.copy(other.buffer, frames: frames)
      // Several channels may become one, their mean, which is not as high.
      if other.buffer.channelCount == 1 { peakBound = other.peakBound }
    }
  }
}

/// A step of the mixer that changes, measures or records the frames of a cycle. The mixer calls
/// stages by their concrete types, so that the compiler can verify them for the audio thread.
///
/// ```swift
/// /// Inverts the polarity.
/// struct Inverter: MixerStage {
///   @_noLocks mutating func process(_ bus: inout MixerBus) {
///     for sample in 0..<bus.frames * bus.buffer.channelCount {
///       bus.buffer[sample] = -bus.buffer[sample]
///     }
///   }
/// }
/// var bus = MixerBus(periodFrames: 64, channelCount: 2)
/// bus.begin(frames: 64, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
/// var inverter = Inverter()
/// inverter.process(&bus)
/// ```
public protocol MixerStage: ~Copyable {
  /// Processes the frames of `bus`.
  mutating func process(_ bus: inout MixerBus)
}

extension SmoothedGain: MixerStage {
  /// Multiplies the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    if isTransparent { return }
    bus.peakBound = .infinity
    process(&bus.buffer, from: 0, frames: bus.frames)
  }
}

extension Dither: MixerStage {
  /// Adds dither noise to the frames of `bus`.
  @_noLocks
  public mutating func process(_ bus: inout MixerBus) {
    process(&bus.buffer, frames: bus.frames)
  }
}
