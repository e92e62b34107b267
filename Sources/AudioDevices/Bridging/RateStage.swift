// Audio thread.
import AudioBasics
import AudioClocks
import RealtimeAudio

/// One direction's way through a resampler: frames go in at one rate, wait in a queue at the other,
/// and come out in pieces of any size.
struct RateStage: ~Copyable {
  /// Frames at the output's rate by which the filter delays what passes; 0 where rates are equal.
  let delayFrames: Double
  private var converter: RateConverter?
  private var isDrained = false
  private var queueIn: SampleWriter
  private var queueOut: SampleReader
  private var converted: SampleBuffer
  private var silence: SampleBuffer

  /// From `inputRate` to `outputRate`, with room for `capacity` frames in the queue. What
  /// `isFinite` has a beginning and an end: its first frame comes out first, and `drain` brings its
  /// last.
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

  /// Frames waiting, at the output's rate.
  var queued: Int {
    @_noLocks get { queueOut.available }
  }

  /// Takes the first `frames` frames of `buffer` in.
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

  /// After the last frame: queues what the filter still holds, as far as there is room. False when
  /// all of it is queued.
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

  /// Takes silence in, as it is at the output's rate.
  @_noLocks
  mutating func pushSilence(_ frames: Int) {
    var rest = frames
    while rest > 0 {
      let count = queueIn.write(silence, frames: min(rest, silence.frameCount))
      guard count > 0 else { return }
      rest &-= count
    }
  }

  /// Fills the start of `buffer` with at most `frames` waiting frames; returns how many.
  @_noLocks
  mutating func pull(into buffer: inout SampleBuffer, frames: Int) -> Int {
    queueOut.read(into: &buffer, frames: frames)
  }

  /// Forgets what waits and what the filter holds.
  @_noLocks
  mutating func reset() {
    while queueOut.available > 0 {
      if queueOut.read(into: &converted, frames: converted.frameCount) == 0 { break }
    }
    converter?.reset()
    isDrained = false
  }
}
