import AudioBasics
import AudioClocks
import Foundation
import Glibc
import Reports

/// A simulation of two clocks and the control that keeps them aligned, in virtual time and without
/// audio. It generates the clock readings and measures the resulting errors.
struct ClockTrial {
  /// The rate of the input's clock relative to the output's clock over time.
  struct RateSchedule {
    /// The start time of each step and the rate difference from then on, in parts per million.
    var steps: [(seconds: Double, ppm: Double)]
    /// The amplitude of an added slow sine, in parts per million.
    var wanderPPM: Double
    /// The period of that sine in seconds.
    var wanderSeconds: Double

    /// Creates a course that consists of steps.
    init(
      steps: [(seconds: Double, ppm: Double)], wanderPPM: Double = 0, wanderSeconds: Double = 1200
    ) {
      self.steps = steps
      self.wanderPPM = wanderPPM
      self.wanderSeconds = wanderSeconds
    }

    func ppm(at seconds: Double) -> Double {
      (steps.last { $0.seconds <= seconds }?.ppm ?? 0)
        + wanderPPM * sin(2 * .pi * seconds / wanderSeconds)
    }

    /// Returns the number of frames counted at `seconds` by a clock of `rate` nominal frames per
    /// second.
    func frames(at seconds: Double, rate: Double) -> Double {
      var extra = wanderPPM * (1 - cos(2 * .pi * seconds / wanderSeconds))
      extra *= wanderSeconds / (2 * .pi)
      for (index, step) in steps.enumerated() where step.seconds < seconds {
        let end = index + 1 < steps.count ? min(seconds, steps[index + 1].seconds) : seconds
        extra += step.ppm * (end - step.seconds)
      }
      return rate * (seconds + extra * 1e-6)
    }
  }

  /// The errors at one point in time.
  struct Moment {
    /// The time in seconds.
    var seconds: Double
    /// The difference between the actual and the correct ratio, in parts per million.
    var ratioErrorPPM: Double
    /// The excess of the delay over its target, in frames.
    var delayError: Double
  }

  /// The nominal rate of both clocks, in frames per second.
  var rate = 48000.0
  /// The number of frames per cycle.
  var period = 64
  /// The number of frames by which a clock position advances at a time.
  var batch = 48.0
  /// The maximum delay of a reading, in seconds.
  var jitter = 0.001
  /// The tick period in seconds at which positions advance instead of in batches, if greater than
  /// 0. Readings then carry the time at which they were requested, as those of ALSA's loopback
  /// device do.
  var tickSeconds = 0.0
  /// The error rate of readings: one in this many is missing and one has a random time. 0 for no
  /// errors.
  var spoiled = 0
  /// The seed of the random numbers.
  var seed: UInt64 = 1
  /// The time in seconds after a start or a change within which the errors must have settled.
  var lockSeconds = 15.0
  /// The rate of the input's clock over time.
  var schedule: RateSchedule

  /// Creates a trial with USB-like batches and 1 ms of jitter on both clocks.
  init(_ schedule: RateSchedule) {
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
  func run(seconds: Double, show: (Moment) -> Void) {
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

  /// Returns the time in seconds at which the input's clock reaches `frames`.
  private func captured(at frames: Double) -> Double {
    var seconds = frames / rate
    for _ in 0..<6 { seconds += (frames - schedule.frames(at: seconds, rate: rate)) / rate }
    return seconds
  }
}

extension ClockTrial {
  /// The largest errors of a run.
  struct Errors {
    /// The largest ratio error in parts per million, measured from `lockSeconds` after each change.
    var ratioPPM = 0.0
    /// The largest delay error in frames, measured over the same time.
    var delayFrames = 0.0
    /// The largest delay error at any time, in frames.
    var everFrames = 0.0
  }

  /// Runs the trial for `seconds`; each step of the course counts as a change.
  func errors(seconds: Double) -> Errors {
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
  static var start: ClockTrial {
    var trial = ClockTrial(RateSchedule(steps: [(0, 80)]))
    trial.lockSeconds = 5
    return trial
  }

  /// Returns a trial whose input clock is 80 ppm fast and varies sinusoidally by `ppm` with a
  /// period of `period` seconds. The errors count from 60 seconds after the start.
  static func swaying(ppm: Double, period: Double) -> ClockTrial {
    var trial = ClockTrial(
      RateSchedule(steps: [(0, 80)], wanderPPM: ppm, wanderSeconds: period))
    trial.lockSeconds = 60
    return trial
  }

  /// Returns a trial with a step of the input's clock every minute.
  static func stepping(through ppm: [Double], wanderPPM: Double = 0) -> ClockTrial {
    ClockTrial(
      RateSchedule(
        steps: ppm.enumerated().map { (seconds: 60 * Double($0.offset), ppm: $0.element) },
        wanderPPM: wanderPPM))
  }
}

/// Prints the largest errors of a start, of an hour of steps, of an hour of slow wander and of
/// clocks with sinusoidal rate variation, for `seeds` seeds. Returns false if an error reaches its
/// limit: 1 ppm or 1 frame, but for sinusoidal variation 60 ppm (0.1 cent) and 5 frames (10 frames
/// for the fastest).
func printClockTrials(seeds: Int) -> Bool {
  let hour = { (steps: [Double]) in (0..<60).map { steps[$0 % steps.count] } }
  typealias Limits = (ppm: Double, frames: Double)
  let locked: Limits = (1, 1)
  let swaying: Limits = (60, 5)
  let trials: [(name: String, trial: ClockTrial, seconds: Double, limits: Limits)] = [
    ("a start, from 5 s to 60 s", .start, 60, locked),
    ("an hour of steps of 1 ppm", .stepping(through: hour([0, 1, 0, -1])), 3600, locked),
    ("an hour of steps of 100 ppm", .stepping(through: hour([0, 100, 0, -100])), 3600, locked),
    ("an hour of steps of 1000 ppm", .stepping(through: hour([0, 1000, 0, -1000])), 3600, locked),
    ("an hour's wander of 20 ppm", .stepping(through: [30], wanderPPM: 20), 3600, locked),
    ("20 minutes' sway of 29 ppm in a minute", .swaying(ppm: 29, period: 60), 1200, swaying),
    ("of 60 ppm in 5 minutes", .swaying(ppm: 60, period: 300), 1200, swaying),
    ("of 100 ppm in 2 minutes", .swaying(ppm: 100, period: 120), 1200, swaying),
    ("of 100 ppm in a minute", .swaying(ppm: 100, period: 60), 1200, (60, 10)),
  ]
  print("| | ratio off, ppm: median | worst | delay off, frames: median | worst |")
  print("| --- | ---: | ---: | ---: | ---: |")
  var isGood = true
  for (name, trial, seconds, limits) in trials {
    let errors = (1...max(1, seeds)).map { seed in
      var trial = trial
      trial.seed = UInt64(seed)
      return trial.errors(seconds: seconds)
    }
    let ratios = errors.map(\.ratioPPM).sorted()
    let delays = errors.map(\.delayFrames).sorted()
    let middle = errors.count / 2
    guard let ratio = ratios.last, let delay = delays.last else { return false }
    isGood = isGood && ratio < limits.ppm && delay < limits.frames
    print(
      "| \(name) | \(ratios[middle].shown(2)) | \(ratio.shown(2)) | \(delays[middle].shown(2)) "
        + "| \(delay.shown(2)) |")
  }
  return isGood
}

/// The convergence of the ratio and the delay after the input's clock, 50 ppm fast, changes its
/// rate by `ppm`. Both clocks have USB-like batches of 48 frames and 1 ms of jitter.
struct LockCurve {
  /// The size of the step of the input's clock, in parts per million.
  let ppm: Double
  /// The number of frames per cycle.
  let period: Int
  private static let stepSeconds = 60.0

  /// Returns the moments from `before` seconds before the step to `after` seconds after it.
  func moments(before: Double, after: Double) -> [LockPicture.Moment] {
    var trial = ClockTrial(
      ClockTrial.RateSchedule(steps: [(0, 50), (Self.stepSeconds, 50 + ppm)]))
    trial.period = period
    var moments: [LockPicture.Moment] = []
    trial.run(seconds: Self.stepSeconds + after) { moment in
      let seconds = moment.seconds - Self.stepSeconds
      guard seconds >= -before else { return }
      moments.append((seconds, moment.delayError, moment.ratioErrorPPM))
    }
    return moments
  }

  /// Prints one line for each 100 ms from the start to one minute after the step.
  func printTable() {
    print("seconds,ratioErrorPPM,delayErrorFrames")
    var next = -Self.stepSeconds
    for moment in moments(before: Self.stepSeconds, after: 60) where moment.seconds >= next {
      next += 0.1
      print(
        [moment.seconds, moment.ratioErrorPPM, moment.delayError].map { $0.shown(4) }
          .joined(separator: ","))
    }
  }

  /// A picture of the same curve.
  var picture: LockPicture {
    LockPicture(
      title: "A step of \(Int(clamping: ppm)) ppm",
      subtitle: "48 kHz, period \(period), batches of 48 frames, 1 ms of jitter on both clocks",
      lockSeconds: 15, moments: moments(before: 5, after: 40))
  }
}

/// Writes one picture for each of several steps into `folder`.
func drawLockCurves(into folder: String) throws {
  for ppm in [1.0, 100, -100, 1000, -1000, 5000, -5000] {
    let path = "\(folder)/lock\(ppm < 0 ? "-minus" : "")-\(Int(clamping: abs(ppm))).svg"
    try LockCurve(ppm: ppm, period: 64).picture.svg()
      .write(toFile: path, atomically: true, encoding: .utf8)
    print(path)
  }
}
