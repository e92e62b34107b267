import AudioBasics
import AudioClocks
import Foundation
import Glibc
import Reports

/// Two clocks that are held together in virtual time, without any sound: what their readings look
/// like, and what comes of it.
struct ClockTrial {
  /// How the input's clock runs against the output's, in parts per million.
  struct Course {
    /// From when on it differs by so much.
    var steps: [(seconds: Double, ppm: Double)]
    /// The amplitude and the period of a slow sine that is added.
    var wanderPPM: Double
    /// Seconds from crest to crest.
    var wanderSeconds: Double

    /// A course in steps.
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

    /// Frames by then of a clock of `rate` frames a second.
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

  /// One moment of it.
  struct Moment {
    /// When it was.
    var seconds: Double
    /// Parts per million between the ratio and the right one.
    var ratioErrorPPM: Double
    /// Frames by which the delay was too long.
    var delayError: Double
  }

  /// Frames a second of both clocks, nominally.
  var rate = 48000.0
  /// Frames from one cycle to the next.
  var period = 64
  /// Frames that a clock moves at once.
  var batch = 48.0
  /// Seconds by which a reading may be late.
  var jitter = 0.001
  /// Seconds of the machine's tick at which positions move instead, where more than 0, and a
  /// reading carries the time at which it was asked for, as those of ALSA's loopback do.
  var tickSeconds = 0.0
  /// One reading of this many is not told, and one is nonsense; 0 for none.
  var spoiled = 0
  /// Where its random numbers begin.
  var seed: UInt64 = 1
  /// Seconds after a start or a change in which everything must have settled.
  var lockSeconds = 15.0
  /// How the input's clock runs.
  var course: Course

  /// A trial with USB's batches and a millisecond of jitter on both clocks.
  init(_ course: Course) {
    self.course = course
  }

  /// A clock as it is seen: a batch at a time, each late by chance.
  private struct Sight {
    var shown = ClockReading(frames: 0, nanoseconds: 0)
    var next = 0.0
    var due = -1.0
  }

  private static let origin: UInt64 = 1_000_000_000

  /// Runs it for `seconds` and shows every cycle.
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
        let told = Self.origin + UInt64(clamping: sight.due * 1e9)
        sight.shown = ClockReading(frames: Int(clamping: sight.next), nanoseconds: told)
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
        course.frames(at: $0, rate: rate)
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
        // Far off, it is set anew, as after a start.
        let target = control.target(input.estimate, output.estimate, frame: end, at: now)
        let place = abs(place - target) > rate / 100 ? target : place
        let next = control.steer(
          input.estimate, output.estimate, error: place - target, frames: period, at: now)
        let right = 1 + course.ppm(at: time) * 1e-6
        show(
          Moment(
            seconds: time, ratioErrorPPM: (next / right - 1) * 1e6,
            delayError: (end / rate - captured(at: place)) * rate - delay))
        // The converter's ratio glides over the period.
        position = place + ratio * length + (next - ratio) * (length + 1) / 2
        ratio = next
      }
      end += length
      let wake = output.nanoseconds(at: end - length, from: now)
      let due = max(time + length / rate / 8, Double(wake - Self.origin) * 1e-9)
      while input.isNoisy || output.isNoisy {
        let now = UInt64(clamping: time * 1e9)
        let next = time + Double(FilteredClock.nextLook(after: now) &- now) * 1e-9
        guard next < due else { break }
        time = next
        lookAtBoth()
      }
      time = due
    }
  }

  /// When the input's clock has come to `frames`.
  private func captured(at frames: Double) -> Double {
    var seconds = frames / rate
    for _ in 0..<6 { seconds += (frames - course.frames(at: seconds, rate: rate)) / rate }
    return seconds
  }
}

extension ClockTrial {
  /// The largest errors of a run.
  struct Errors {
    /// Of the ratio, in parts per million, from `lockSeconds` after each change on.
    var ratioPPM = 0.0
    /// Of the delay, in frames, likewise.
    var delayFrames = 0.0
    /// Of the delay at any time.
    var everFrames = 0.0
  }

  /// Runs it for `seconds`, each step of the course being a change.
  func errors(seconds: Double) -> Errors {
    var errors = Errors()
    var next = 0
    let changes = course.steps.map(\.seconds)
    run(seconds: seconds) { moment in
      errors.everFrames = max(errors.everFrames, abs(moment.delayError))
      while next + 1 < changes.count, changes[next + 1] <= moment.seconds { next += 1 }
      guard moment.seconds > changes[next] + lockSeconds else { return }
      errors.ratioPPM = max(errors.ratioPPM, abs(moment.ratioErrorPPM))
      errors.delayFrames = max(errors.delayFrames, abs(moment.delayError))
    }
    return errors
  }

  /// A start, whose clocks must be locked in 5 seconds.
  static var start: ClockTrial {
    var trial = ClockTrial(Course(steps: [(0, 80)]))
    trial.lockSeconds = 5
    return trial
  }

  /// An input's clock, 80 ppm fast, that sways by `ppm` to and fro within `period` seconds, and
  /// must be followed from a minute on.
  static func swaying(ppm: Double, period: Double) -> ClockTrial {
    var trial = ClockTrial(
      Course(steps: [(0, 80)], wanderPPM: ppm, wanderSeconds: period))
    trial.lockSeconds = 60
    return trial
  }

  /// A trial with a step of the input's clock every minute.
  static func stepping(through ppm: [Double], wanderPPM: Double = 0) -> ClockTrial {
    ClockTrial(
      Course(
        steps: ppm.enumerated().map { (seconds: 60 * Double($0.offset), ppm: $0.element) },
        wanderPPM: wanderPPM))
  }
}

/// Prints the largest errors of a start, of an hour of steps and of wander, and of clocks that
/// sway, under `seeds` seeds. False where one is 1 ppm or 1 frame or more, or of a clock that sways
/// 60 ppm, a tenth of a cent, or 5 frames, 10 of the fastest.
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

/// How the ratio and the delay come to what they should be after the input's clock, 50 ppm fast,
/// jumped by `ppm`. With USB's batches of 48 frames and a millisecond of jitter on both clocks.
struct LockCurve {
  /// By how much the input's clock jumps, in parts per million.
  let ppm: Double
  /// Frames a cycle.
  let period: Int
  private static let stepSeconds = 60.0

  /// The moments from `before` seconds before the step to `after` seconds behind it.
  func moments(before: Double, after: Double) -> [LockPicture.Moment] {
    var trial = ClockTrial(
      ClockTrial.Course(steps: [(0, 50), (Self.stepSeconds, 50 + ppm)]))
    trial.period = period
    var moments: [LockPicture.Moment] = []
    trial.run(seconds: Self.stepSeconds + after) { moment in
      let seconds = moment.seconds - Self.stepSeconds
      guard seconds >= -before else { return }
      moments.append((seconds, moment.delayError, moment.ratioErrorPPM))
    }
    return moments
  }

  /// Prints a line for each tenth of a second from the start to a minute after the step.
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

  /// The same as a picture.
  var picture: LockPicture {
    LockPicture(
      title: "A step of \(Int(clamping: ppm)) ppm",
      subtitle: "48 kHz, period \(period), batches of 48 frames, 1 ms of jitter on both clocks",
      lockSeconds: 15, moments: moments(before: 5, after: 40))
  }
}

/// Writes a picture for each of several steps into `folder`.
func drawLockCurves(into folder: String) throws {
  for ppm in [1.0, 100, -100, 1000, -1000, 5000, -5000] {
    let path = "\(folder)/lock\(ppm < 0 ? "-minus" : "")-\(Int(clamping: abs(ppm))).svg"
    try LockCurve(ppm: ppm, period: 64).picture.svg()
      .write(toFile: path, atomically: true, encoding: .utf8)
    print(path)
  }
}
