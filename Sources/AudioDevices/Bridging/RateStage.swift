// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// The resampling of one direction: frames enter at one rate, wait in a queue at the other, and
/// leave in pieces of any size.
struct RateStage: ~Copyable {
  /// The delay of the filter in frames at the output's rate; 0 if the rates are equal.
  let delayFrames: Double
  private var converter: RateConverter?
  private var isDrained = false
  private var queueIn: SampleWriter
  private var queueOut: SampleReader
  private var converted: SampleBuffer
  private var silence: SampleBuffer

  /// Creates a stage from `inputRate` to `outputRate`, with room for `capacity` frames in the
  /// queue. If `isFinite`, the stream has a beginning and an end: its first frame is the first
  /// output frame, and `drain` delivers its last. Throws if the rates cannot be converted.
  init(
    channelCount: Int, from inputRate: Int, to outputRate: Int, quality: Int, capacity: Int,
    isFinite: Bool = false
  ) throws(DeviceFailure) {
    var made: RateConverter?
    if inputRate != outputRate {
      do throws(RateFailure) {
        made = try RateConverter(
          channelCount: channelCount, inputRate: inputRate, outputRate: outputRate,
          quality: quality)
      } catch {
        throw DeviceFailure(
          .refused, "\(inputRate) Hz cannot be converted to \(outputRate) Hz.",
          hint: "Ask for another rate.", remedy: .chooseRate)
      }
    }
    if isFinite { made?.skipLeadingSilence() }
    delayFrames = made?.outputDelayFrames ?? 0
    converter = made
    queueIn = SampleWriter(frameCount: capacity, channelCount: channelCount)
    queueOut = queueIn.makeReader()
    converted = SampleBuffer(frameCount: min(capacity, 4096), channelCount: channelCount)
    silence = SampleBuffer(frameCount: 256, channelCount: channelCount)
  }

  /// The number of queued frames, at the output's rate.
  var queued: Int {
    @_noLocks get { queueOut.available }
  }

  /// Converts the first `frames` frames of `buffer` and queues the result.
  @_noLocks
  mutating func push(_ buffer: borrowing SampleBuffer, frames: Int) {
    guard converter != nil else {
      _ = queueIn.write(buffer, frames: frames)
      return
    }
    var done = 0
    while done < frames {
      guard
        let progress = converter?.convert(
          buffer, from: done, frames: frames &- done, into: &converted, at: 0,
          room: converted.frameCount), progress.consumed > 0 || progress.produced > 0
      else { return }
      done &+= progress.consumed
      _ = queueIn.write(converted, frames: progress.produced)
    }
  }

  /// Queues the frames that the filter still holds after the last frame, as many as fit. Returns
  /// false when all of them are queued.
  @_noLocks
  mutating func drain() -> Bool {
    while !isDrained {
      let room = min(queueIn.room, converted.frameCount)
      guard room > 0 else { return true }
      let count = converter?.drain(into: &converted, room: room) ?? 0
      isDrained = count == 0
      _ = queueIn.write(converted, frames: count)
    }
    return false
  }

  /// Queues silence at the output's rate, without conversion.
  @_noLocks
  mutating func pushSilence(_ frames: Int) {
    var rest = frames
    while rest > 0 {
      let count = queueIn.write(silence, frames: min(rest, silence.frameCount))
      guard count > 0 else { return }
      rest &-= count
    }
  }

  /// Fills the start of `buffer` with at most `frames` queued frames. Returns the number of frames.
  @_noLocks
  mutating func pull(into buffer: inout SampleBuffer, frames: Int) -> Int {
    queueOut.read(into: &buffer, frames: frames)
  }

  /// Discards the queued frames and the state of the filter.
  @_noLocks
  mutating func reset() {
    while queueOut.available > 0 {
      if queueOut.read(into: &converted, frames: converted.frameCount) == 0 { break }
    }
    converter?.reset()
    isDrained = false
  }
}
