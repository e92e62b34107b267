// Audio thread.

import AudioBasics
import AudioClocks

/// A clock as it can be read: it moves a batch at a time, and each batch is seen up to `jitter`
/// seconds late.
struct SimulatedClock: ~Copyable, Sendable {
  let course: ClockModel
  private let batch: Int
  private let jitter: Double
  private let tick: Double
  private let salt: UInt64

  init(_ specification: SimulatedDeviceSpecification, drifts: Bool) {
    course = ClockModel(specification, drifts: drifts)
    batch = specification.batchFrames
    jitter = specification.jitterMilliseconds * 1e-3
    tick = specification.tickMilliseconds * 1e-3
    salt = drifts ? SplitMix64.step : 0xD1B5_4A32_D192_ED03
  }

  /// The frames that are seen to have passed at `seconds`, and since when. Where the clock goes by
  /// a tick, that time is not known, and is when it was looked at.
  @_noLocks
  func seen(at seconds: Double) -> (frames: Int, seconds: Double) {
    guard tick > 0 else { return found(at: seconds) }
    let ticks = Int(clamping: seconds / tick + 1e-6)
    return (found(at: Double(ticks) * tick).frames, seconds)
  }

  @_noLocks
  private func found(at seconds: Double) -> (frames: Int, seconds: Double) {
    var number = Int(clamping: course.frames(at: seconds)) / batch
    // Later batches may come before earlier ones, and then both count.
    while number > 0 {
      let arrival = arrival(of: number)
      if arrival <= seconds { return (number &* batch, arrival) }
      number &-= 1
    }
    return (0, 0)
  }

  @_noLocks
  private func arrival(of number: Int) -> Double {
    let exact = course.seconds(at: Double(number &* batch))
    return jitter > 0 ? exact + jitter * chance(number) : exact
  }

  /// 0 up to 1, the same for a batch whenever it is asked.
  @_noLocks
  private func chance(_ number: Int) -> Double {
    let state = UInt64(truncatingIfNeeded: number) &* SplitMix64.step ^ salt
    return Double(SplitMix64.mixed(state) >> 11) * 0x1p-53
  }
}

/// A clock whose rate is constant from one step to the next. Exact, and to be asked in any order.
struct ClockModel: ~Copyable, Sendable {
  private struct Segment: BitwiseCopyable, Sendable {
    let seconds: Double
    let frames: Double
    let framesPerSecond: Double
  }

  private let segments: [Segment]

  init(_ specification: SimulatedDeviceSpecification, drifts: Bool) {
    let rate = Double(
      drifts ? specification.captureRate ?? specification.sampleRate : specification.sampleRate)
    func framesPerSecond(_ ppm: Double) -> Double { drifts ? rate * (1 + ppm * 1e-6) : rate }
    var segments = [
      Segment(seconds: 0, frames: 0, framesPerSecond: framesPerSecond(specification.driftPPM))
    ]
    if drifts {
      for step in specification.driftSteps {
        guard let last = segments.last else { continue }
        segments.append(
          Segment(
            seconds: step.seconds,
            frames: last.frames + (step.seconds - last.seconds) * last.framesPerSecond,
            framesPerSecond: framesPerSecond(step.ppm)))
      }
    }
    self.segments = segments
  }

  /// Frames that have passed at `seconds`.
  @_noLocks
  func frames(at seconds: Double) -> Double {
    var index = segments.count &- 1
    while index > 0 && segments[index].seconds > seconds { index &-= 1 }
    return segments[index].frames + (seconds - segments[index].seconds)
      * segments[index].framesPerSecond
  }

  /// When `frames` frames have passed.
  @_noLocks
  func seconds(at frames: Double) -> Double {
    var index = segments.count &- 1
    while index > 0 && segments[index].frames > frames { index &-= 1 }
    return segments[index].seconds + (frames - segments[index].frames)
      / segments[index].framesPerSecond
  }
}
