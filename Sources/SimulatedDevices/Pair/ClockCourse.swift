// Audio thread.

/// How a device's clock goes: so many frames a second, for a while, then so many others. Exact, and
/// to be asked in any order.
struct ClockCourse: ~Copyable, Sendable {
  private struct Stretch: BitwiseCopyable, Sendable {
    let seconds: Double
    let frames: Double
    let pace: Double
  }

  private let stretches: [Stretch]

  init(_ specification: SimulatedDeviceSpecification, drifts: Bool) {
    let rate = Double(
      drifts ? specification.captureRate ?? specification.sampleRate : specification.sampleRate)
    func pace(_ ppm: Double) -> Double { drifts ? rate * (1 + ppm * 1e-6) : rate }
    var stretches = [Stretch(seconds: 0, frames: 0, pace: pace(specification.driftPPM))]
    if drifts {
      for step in specification.driftSteps {
        guard let last = stretches.last else { continue }
        stretches.append(
          Stretch(
            seconds: step.seconds, frames: last.frames + (step.seconds - last.seconds) * last.pace,
            pace: pace(step.ppm)))
      }
    }
    self.stretches = stretches
  }

  /// Frames that have passed at `seconds`.
  @_noLocks
  func frames(at seconds: Double) -> Double {
    var index = stretches.count &- 1
    while index > 0 && stretches[index].seconds > seconds { index &-= 1 }
    return stretches[index].frames + (seconds - stretches[index].seconds) * stretches[index].pace
  }

  /// When `frames` frames have passed.
  @_noLocks
  func seconds(at frames: Double) -> Double {
    var index = stretches.count &- 1
    while index > 0 && stretches[index].frames > frames { index &-= 1 }
    return stretches[index].seconds + (frames - stretches[index].frames) / stretches[index].pace
  }
}
