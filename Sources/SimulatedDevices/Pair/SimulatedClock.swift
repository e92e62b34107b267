// Audio thread.

import AudioBasics
import AudioClocks

/// A clock as a program can read it: it advances a batch at a time, and each batch is visible up to
/// `jitter` seconds late.
struct SimulatedClock: ~Copyable, Sendable {
  let model: ClockModel
  private let batch: Int
  private let jitter: Double
  private let tick: Double
  private let salt: UInt64

  init(_ specification: SimulatedDeviceSpecification, drifts: Bool) {
    model = ClockModel(specification, drifts: drifts)
    batch = specification.batchFrames
    jitter = specification.jitterMilliseconds * 1e-3
    tick = specification.tickMilliseconds * 1e-3
    salt = drifts ? SplitMix64.step : 0xD1B5_4A32_D192_ED03
  }

  /// Returns the number of frames that are visible at `seconds`, and the time since when they are.
  /// If the clock advances at ticks, that time is not known, and the time of the reading is
  /// returned.
  @_noLocks
  func seen(at seconds: Double) -> (frames: Int, seconds: Double) {
    guard tick > 0 else { return found(at: seconds) }
    let ticks = Int(clamping: seconds / tick + 1e-6)
    return (found(at: Double(ticks) * tick).frames, seconds)
  }

  @_noLocks
  private func found(at seconds: Double) -> (frames: Int, seconds: Double) {
    var number = Int(clamping: model.frames(at: seconds)) / batch
    // A later batch may arrive before an earlier one, and then both count.
    while number > 0 {
      let arrival = arrival(of: number)
      if arrival <= seconds { return (number &* batch, arrival) }
      number &-= 1
    }
    return (0, 0)
  }

  @_noLocks
  private func arrival(of number: Int) -> Double {
    let exact = model.seconds(at: Double(number &* batch))
    return jitter > 0 ? exact + jitter * chance(number) : exact
  }

  /// Returns a number from 0 up to 1, which is always the same for a batch.
  @_noLocks
  private func chance(_ number: Int) -> Double {
    let state = UInt64(truncatingIfNeeded: number) &* SplitMix64.step ^ salt
    return Double(SplitMix64.mixed(state) >> 11) * 0x1p-53
  }
}

/// A clock whose rate is constant from one step to the next. It is exact, and its times can be
/// queried in any order.
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

  /// Returns the number of frames that have passed at `seconds`.
  @_noLocks
  func frames(at seconds: Double) -> Double {
    var index = segments.count &- 1
    while index > 0 && segments[index].seconds > seconds { index &-= 1 }
    return segments[index].frames + (seconds - segments[index].seconds)
      * segments[index].framesPerSecond
  }

  /// Returns the time in seconds at which `frames` frames have passed.
  @_noLocks
  func seconds(at frames: Double) -> Double {
    var index = segments.count &- 1
    while index > 0 && segments[index].frames > frames { index &-= 1 }
    return segments[index].seconds + (frames - segments[index].frames)
      / segments[index].framesPerSecond
  }
}
