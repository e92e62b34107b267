import AudioBasics
import AudioClocks
import Glibc

/// A simulation of two clocks and the control that keeps them aligned, in virtual time and without
/// audio. It generates the clock readings and measures the resulting errors.
package struct ClockTrial {
  /// The rate of the input's clock relative to the output's clock over time.
  package struct RateSchedule {
    /// The start time of each step and the rate difference from then on, in parts per million.
    package var steps: [(seconds: Double, ppm: Double)]
    /// The amplitude of an added slow sine, in parts per million.
    package var wanderPPM: Double
    /// The period of that sine in seconds.
    package var wanderSeconds: Double

    /// Creates a course that consists of steps.
    package init(
      steps: [(seconds: Double, ppm: Double)], wanderPPM: Double = 0, wanderSeconds: Double = 1200
    ) {
      self.steps = steps
      self.wanderPPM = wanderPPM
      self.wanderSeconds = wanderSeconds
    }

    package func ppm(at seconds: Double) -> Double {
      (steps.last { $0.seconds <= seconds }?.ppm ?? 0)
        + wanderPPM * sin(2 * .pi * seconds / wanderSeconds)
    }

    /// Returns the number of frames counted at `seconds` by a clock of `rate` nominal frames per
    /// second.
    package func frames(at seconds: Double, rate: Double) -> Double {
      var extra = 0.0
      if wanderPPM != 0 {
        extra = wanderPPM * (1 - cos(2 * .pi * seconds / wanderSeconds))
        extra *= wanderSeconds / (2 * .pi)
      }
      for (index, step) in steps.enumerated() where step.seconds < seconds {
        let end = index + 1 < steps.count ? min(seconds, steps[index + 1].seconds) : seconds
        extra += step.ppm * (end - step.seconds)
      }
      return rate * (seconds + extra * 1e-6)
    }
  }

  /// The errors at one point in time.
  package struct Moment {
    /// The time in seconds.
    package var seconds: Double
    /// The difference between the actual and the correct ratio, in parts per million.
    package var ratioErrorPPM: Double
    /// The excess of the delay over its target, in frames.
    package var delayError: Double
  }

  /// The nominal rate of both clocks, in frames per second.
  package var rate = 48000.0
  /// The number of frames per cycle.
  package var period = 64
  /// The number of frames by which a clock position advances at a time.
  package var batch = 48.0
  /// The maximum delay of a reading, in seconds.
  package var jitter = 0.001
  /// The tick period in seconds at which positions advance instead of in batches, if greater than
  /// 0. Readings then carry the time at which they were requested, as those of ALSA's loopback
  /// device do.
  package var tickSeconds = 0.0
  /// The error rate of readings: one in this many is missing and one has a random time. 0 for no
  /// errors.
  package var spoiled = 0
  /// The seed of the random numbers.
  package var seed: UInt64 = 1
  /// The time in seconds after a start or a change within which the errors must have settled.
  package var lockSeconds = 15.0
  /// The rate of the input's clock over time.
  package var schedule: RateSchedule

  /// Creates a trial with USB-like batches and 1 ms of jitter on both clocks.
  package init(_ schedule: RateSchedule) {
    self.schedule = schedule
  }

  /// The observed state of a clock: its position advances in batches, each with a random delay.
  private struct Sight {
    var shown = ClockReading(frames: 0, nanoseconds: 0)
    var next = 0.0
    var due = -1.0
  }

  private static let origin: UInt64 = 1_000_000_000

  /// Runs the trial for `seconds` and calls `show` for each cycle.
  package func run(seconds: Double, show: (Moment) -> Void) {
    var random = SplitMix64(seed: seed)
    let length = Double(period)
    let delay = 3 * length + 64
    var input = FilteredClock(framesPerSecond: rate)
    var output = FilteredClock(framesPerSecond: rate)
    var control = DriftControl(nominalRatio: 1, delaySeconds: delay / rate)
    var (inputSight, outputSight) = (Sight(), Sight())
    var time = length / rate
    var end = 2 * length
    var position: Double?
    var ratio = 1.0
    // The time by which the input's clock was late at the last instant that was calculated.
    var lateness = 0.0

    // Returns the time in seconds at which the input's clock reaches `frames`, by iteration until
    // it changes by less than a picosecond.
    func captured(at frames: Double) -> Double {
      var seconds = frames / rate + lateness
      for _ in 0..<6 {
        let change = (frames - schedule.frames(at: seconds, rate: rate)) / rate
        seconds += change
        if abs(change) < 1e-12 { break }
      }
      lateness = seconds - frames / rate
      return seconds
    }
    func look(
      _ sight: inout Sight, _ clock: inout FilteredClock, _ when: (Double) -> Double,
      _ count: (Double) -> Double
    ) {
      if tickSeconds > 0 {
        let frames = Int(clamping: count((time / tickSeconds).rounded(.down) * tickSeconds))
        if frames > sight.shown.frames {
          sight.shown = ClockReading(
            frames: frames, nanoseconds: Self.origin + UInt64(clamping: time * 1e9))
        }
      }
      while tickSeconds == 0 {
        if sight.due < 0 {
          sight.next = Double(sight.shown.frames) + batch
          sight.due = when(sight.next) + jitter * random.uniform(0...1)
        }
        guard sight.due <= time else { break }
        let reported = Self.origin + UInt64(clamping: sight.due * 1e9)
        sight.shown = ClockReading(frames: Int(clamping: sight.next), nanoseconds: reported)
        sight.due = -1
      }
      var reading = sight.shown
      if spoiled > 0 {
        let chance = Int(random.next() % UInt64(spoiled))
        if chance == 0 { return }
        if chance == 1 { reading.nanoseconds = random.next() % (1 << 62) }
      }
      if reading.frames > 0 { clock.take(reading) }
    }
    func lookAtBoth() {
      look(&inputSight, &input) {
        captured(at: $0)
      } _: {
        schedule.frames(at: $0, rate: rate)
      }
      look(&outputSight, &output) {
        $0 / rate
      } _: {
        $0 * rate
      }
    }

    while time < seconds {
      lookAtBoth()
      let now = Self.origin + UInt64(clamping: time * 1e9)
      if position == nil, input.isRunning, output.isRunning {
        position = control.target(input.estimate, output.estimate, frame: end, at: now)
      }
      if let place = position {
        // If the position is off by more than 10 ms, it is reset, as after a start.
        let target = control.target(input.estimate, output.estimate, frame: end, at: now)
        let place = abs(place - target) > rate / 100 ? target : place
        let next = control.steer(
          input.estimate, output.estimate, error: place - target, frames: period, at: now)
        let right = 1 + schedule.ppm(at: time) * 1e-6
        show(
          Moment(
            seconds: time, ratioErrorPPM: (next / right - 1) * 1e6,
            delayError: (end / rate - captured(at: place)) * rate - delay))
        // The converter's ratio changes linearly over the period.
        position = place + ratio * length + (next - ratio) * (length + 1) / 2
        ratio = next
      }
      end += length
      let wake = output.nanoseconds(at: end - length, from: now)
      let due = max(time + length / rate / 8, Double(wake - Self.origin) * 1e-9)
      while input.isNoisy || output.isNoisy {
        let now = UInt64(clamping: time * 1e9)
        let next = time + Double(FilteredClock.nextReadTime(after: now) &- now) * 1e-9
        guard next < due else { break }
        time = next
        lookAtBoth()
      }
      time = due
    }
  }
}

extension ClockTrial {
  /// The largest errors of a run.
  package struct Errors {
    /// The largest ratio error in parts per million, measured from `lockSeconds` after each change.
    package var ratioPPM = 0.0
    /// The largest delay error in frames, measured over the same time.
    package var delayFrames = 0.0
    /// The largest delay error at any time, in frames.
    package var everFrames = 0.0
  }

  /// Runs the trial for `seconds`; each step of the course counts as a change.
  package func errors(seconds: Double) -> Errors {
    var errors = Errors()
    var next = 0
    let changes = schedule.steps.map(\.seconds)
    run(seconds: seconds) { moment in
      errors.everFrames = max(errors.everFrames, abs(moment.delayError))
      while next + 1 < changes.count, changes[next + 1] <= moment.seconds { next += 1 }
      guard moment.seconds > changes[next] + lockSeconds else { return }
      errors.ratioPPM = max(errors.ratioPPM, abs(moment.ratioErrorPPM))
      errors.delayFrames = max(errors.delayFrames, abs(moment.delayError))
    }
    return errors
  }

  /// A start after which the clocks must be locked within 5 seconds.
  package static var start: ClockTrial {
    var trial = ClockTrial(RateSchedule(steps: [(0, 80)]))
    trial.lockSeconds = 5
    return trial
  }

  /// Returns a trial whose input clock is 80 ppm fast and varies sinusoidally by `ppm` with a
  /// period of `period` seconds. The errors count from 60 seconds after the start.
  package static func swaying(ppm: Double, period: Double) -> ClockTrial {
    var trial = ClockTrial(
      RateSchedule(steps: [(0, 80)], wanderPPM: ppm, wanderSeconds: period))
    trial.lockSeconds = 60
    return trial
  }

  /// Returns a trial with a step of the input's clock every minute.
  package static func stepping(through ppm: [Double], wanderPPM: Double = 0) -> ClockTrial {
    ClockTrial(
      RateSchedule(
        steps: ppm.enumerated().map { (seconds: 60 * Double($0.offset), ppm: $0.element) },
        wanderPPM: wanderPPM))
  }
}
