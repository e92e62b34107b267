// Audio thread.

/// Kalman filters for clocks whose rate changes as that of a crystal, as that of a crystal that
/// warms up, or continuously by some parts per million per second. One of the filters is active at
/// a time.
///
/// The slowest filter has the least noise and is active as long as its errors are around zero. If
/// its errors grow, the rate has changed suddenly, and all filters learn the rate again. If they
/// grow again soon after that, the rate keeps changing. The slowest filter whose errors do not grow
/// is then active, until a slower one has followed for some time. This is a simple kind of
/// multiple-model estimation (Y. Bar-Shalom, X. R. Li, T. Kirubarajan, "Estimation with
/// Applications to Tracking and Navigation", 2001, chapter 11).
///
/// The position of some clocks moves in steps of the machine's timer or of whole frames. The errors
/// of such a clock jump now and then. No filter can follow these jumps, and they do not mean
/// another rate. For about a minute after a jump only the slowest filter is used, unless its errors
/// grow while the fastest filter follows.
///
/// A stretch is a time of about a second. The filters use the earliest of its readings.
struct ClockFilters: BitwiseCopyable, Sendable {
  /// The error of the active filter, and the seconds in which it grew to that value.
  struct GrownError: BitwiseCopyable {
    var frames: Double
    var seconds: Double
  }

  /// A filter does not follow if its mean error, in frames, is above `maximumMean` plus
  /// `maximumMeanNoise` times the noise.
  private static let maximumMean = 0.12
  private static let maximumMeanNoise = 2.0
  /// It does not follow either if a single error is above `maximumError` plus `maximumErrorNoise`
  /// times the noise.
  private static let maximumError = 0.4
  private static let maximumErrorNoise = 4.0
  /// The limit of the mean error that replaces `maximumMean` if errors jump, and the averaging time
  /// of the mean in seconds.
  private static let maximumUnevenMean = 0.5
  private static let meanSeconds = 8.0
  /// A jump is an error of the fastest filter above `jumpFrames`, after `steadyStretches` in which
  /// the filter has followed. The largest jump decays by the factor `jumpMemory` per stretch.
  private static let jumpFrames = 0.9
  private static let jumpMemory = 0.985
  private static let steadyStretches = 5
  /// An error grows if it is larger than the previous one and the previous one is at least
  /// `minimumPart` of it. An error above `roundedFrames` may result from rounding to whole frames,
  /// so it must be `growth` times the previous one.
  private static let roundedFrames = 0.6
  private static let growth = 1.2
  private static let minimumPart = 0.1
  /// The shortest time assumed for the growth of an error, in seconds.
  private static let minimumSeconds = 0.5
  /// If errors jump, the rate keeps changing if an error above `rampErrorFrames` has grown
  /// `rampStretches` times and the error of the fastest filter was below `rampPart` of it each
  /// time.
  private static let rampErrorFrames = 1.0
  private static let rampStretches = 2
  private static let rampPart = 0.25
  /// The number of stretches for which a filter must follow before it replaces a faster one.
  private static let convergedStretches = 16
  /// The stretches after a change of the rate within which another change means that the rate keeps
  /// changing, and the stretches for the same purpose after such continuous changes have ended.
  private static let changeMemory = 20
  private static let rampMemory = 120
  /// The same after a change that is confirmed by readings from before and after it.
  private static let knownChangeMemory = 8
  /// The nanoseconds after a change of the rate while it is being estimated within which another
  /// change means that the rate keeps changing.
  private static let rateChangeMemory: UInt64 = 15_000_000_000
  /// The number of stretches after a change of the rate in which the filters learn it.
  private static let learningStretches = 4

  /// One value per filter.
  private typealias Each<Value> = InlineArray<4, Value>
  /// The filters, slowest first.
  private var filters: Each<KalmanClockFilter>
  /// The index of the active filter.
  private var active = 0
  /// The mean error of each filter over about four stretches, and the stretches since that error
  /// was last too large.
  private var meanErrors = Each(repeating: 0.0)
  private var convergedCount = Each(repeating: 0)
  /// The last error of the active filter, and the number of stretches for which errors have grown
  /// while errors jump.
  private var lastError = 0.0
  private var growing = 0
  /// The remaining stretches in which a change of the rate counts as one of several.
  private var rateChangeCountdown = 0
  /// The time in nanoseconds at which the rate last changed while it is being estimated, or 0 if it
  /// never did.
  private var rateChangeNanoseconds: UInt64 = 0
  private var sinceChange = learningStretches
  /// Whether the last reading was skipped because it may have been late.
  private var wasLate = false
  /// The number of stretches for which the fastest filter has followed, and the largest of its
  /// sudden errors, which decays slowly.
  private var steady = 0
  private var largestJump = 0.0
  /// Whether only the slowest filter is used, and whether that was so before the last stretch.
  private var isUneven = true
  private var wasUneven = true

  /// Creates the filters of a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    filters = [
      KalmanClockFilter(
        framesPerSecond: framesPerSecond, rateNoisePPM: 0.015, rateDriftNoisePPM: 0.001),
      KalmanClockFilter(
        framesPerSecond: framesPerSecond, rateNoisePPM: 0.05, rateDriftNoisePPM: 0.1),
      KalmanClockFilter(framesPerSecond: framesPerSecond, rateNoisePPM: 0.1, rateDriftNoisePPM: 1),
      KalmanClockFilter(framesPerSecond: framesPerSecond, rateNoisePPM: 0.2, rateDriftNoisePPM: 4),
    ]
  }

  private static var fastest: Int { @_noLocks get { Each<KalmanClockFilter>.count &- 1 } }

  /// The active filter.
  var current: KalmanClockFilter { @_noLocks get { filters[active] } }

  /// Whether the rate is stable: the slowest filter is active, and errors do not jump.
  var isStill: Bool {
    @_noLocks get {
      active == 0 && rateChangeCountdown <= Self.knownChangeMemory && !(isUneven && wasUneven)
    }
  }

  /// Restarts all filters. See `KalmanClockFilter.begin`.
  @_noLocks
  mutating func begin(
    at frames: Double, _ time: UInt64, framesPerSecond: Double, uncertainty: Double,
    rateUncertainty: Double
  ) {
    active = 0
    for index in filters.indices {
      filters[index].begin(
        at: frames, time, framesPerSecond: framesPerSecond, uncertainty: uncertainty,
        rateUncertainty: rateUncertainty)
    }
  }

  /// Widens the uncertainty of all filters because the clock runs at another rate. See
  /// `KalmanClockFilter.forget`.
  @_noLocks
  mutating func forget(_ uncertainty: Double, rate: Double) {
    for index in filters.indices { filters[index].forget(uncertainty, rate: rate) }
  }

  /// Moves all filters to another position of the clock. See `KalmanClockFilter.move`.
  @_noLocks
  mutating func move(to reading: ClockReading, noise: Double) {
    for index in filters.indices { filters[index].move(to: reading, noise: noise) }
  }

  /// Discards the effect of earlier readings on the mean errors.
  @_noLocks
  mutating func forgetReadings() { meanErrors = Each(repeating: 0) }

  /// Feeds the position of the clock at `time` to all filters and evaluates nothing else. `noise`
  /// is the usual error of the position, in frames.
  @_noLocks
  mutating func take(_ position: Double, at time: UInt64, noise: Double) {
    takeAll(position, at: time, noise: noise, evenNoise: noise)
    isUneven = true
  }

  /// Returns whether a reading that is off by more than `limit` frames means that the clock has
  /// changed, which is the case if a fast filter does not follow either and is not learning. If the
  /// rate was stable, the second-fastest filter is tested: the fastest also follows a step of the
  /// rate soon, but estimates the new rate less well than a restarted estimate does.
  @_noLocks
  func isLost(_ position: Double, at time: UInt64, limit: Double) -> Bool {
    guard !isUneven else { return true }
    let fast = rateChangeCountdown > 0 ? Self.fastest : Self.fastest &- 1
    return sinceChange >= Self.learningStretches
      && abs(position - filters[fast].frames(at: time)) > limit / 2
  }

  /// Records that the rate changes while it is being estimated, so that the next change counts as
  /// one of several. Returns whether the rate also changed shortly before.
  @_noLocks
  mutating func noteUnstableRate(at time: UInt64) -> Bool {
    rateChangeCountdown = max(rateChangeCountdown, Self.knownChangeMemory + 1)
    let wasShortlyBefore =
      rateChangeNanoseconds > 0 && time &- rateChangeNanoseconds < Self.rateChangeMemory
    rateChangeNanoseconds = time
    return wasShortlyBefore
  }

  /// Switches to the fastest filter because the rate keeps changing. All filters have been
  /// restarted.
  @_noLocks
  mutating func useFastest() {
    (isUneven, largestJump) = (false, 0)
    use(Self.fastest)
  }

  /// Records a change of the rate. All filters have been restarted with the estimate of the new
  /// rate.
  @_noLocks
  mutating func noteChange() {
    sinceChange = 0
    largestJump = 0
    rateChangeCountdown = Self.knownChangeMemory
  }

  /// Uses the earliest reading of a stretch: the clock was at `position` at `time`. `noise` is the
  /// usual difference between successive errors in frames, and `evenNoise` their usual deviation
  /// from an even change. Returns the error if the rate seems to have changed. In that case the
  /// filters have not used the reading yet, and the caller must pass it to `learn`,
  /// `expectRateRamp` or `takeAll`.
  @_noLocks
  mutating func follow(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double, isSettled: Bool
  ) -> GrownError? {
    wasUneven = isUneven
    rateChangeCountdown = max(0, rateChangeCountdown &- 1)
    sinceChange = min(Self.learningStretches, sinceChange &+ 1)
    let fastError = position - filters[Self.fastest].frames(at: time)
    largestJump *= Self.jumpMemory
    isUneven = !isSettled || largestJump > Self.jumpFrames
    let isOff = Self.isOff(fastError, noise: evenNoise)
    if isSettled, sinceChange >= Self.learningStretches, steady >= Self.steadyStretches {
      let error = position - filters[active].frames(at: time)
      largestJump = max(largestJump, min(abs(error), abs(fastError)))
    }
    steady = isOff ? 0 : steady &+ 1
    guard !isUneven else {
      followUneven(position, at: time, noise: noise, evenNoise: evenNoise, fastError: fastError)
      return nil
    }
    // A reading can be late by chance, but hardly twice in a row.
    if isOff, fastError < 0, !wasLate {
      wasLate = true
      return nil
    }
    wasLate = false
    return followEven(position, at: time, noise: noise, evenNoise: evenNoise, isSudden: isOff)
  }

  /// Returns whether an error is too large for a filter that follows the clock.
  @_noLocks
  private static func isOff(_ error: Double, noise: Double) -> Bool {
    abs(error) > maximumError + maximumErrorNoise * noise
  }

  /// Uses the slowest filter until its errors grow while the fastest filter follows. `fastError` is
  /// the error of the fastest filter.
  @_noLocks
  private mutating func followUneven(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double, fastError: Double
  ) {
    adoptIntoSlower()
    active = 0
    let error = position - filters[0].frames(at: time)
    let isFollowed = abs(fastError) < Self.rampPart * abs(error)
    growing = grows(error) && isFollowed ? growing &+ 1 : 0
    lastError = error
    meanErrors[0] += (error - meanErrors[0]) / 4
    let isWandering =
      growing >= Self.rampStretches && steady >= Self.steadyStretches
      && abs(error) > Self.rampErrorFrames
    if !isWandering { widenSlowest(noise: noise) }
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
    convergedCount = Each(repeating: 0)
    guard isWandering else { return }
    (isUneven, largestJump, growing) = (false, 0, 0)
    use(Self.fastest)
  }

  /// Widens the uncertainty of all filters by the mean error if the errors of the slowest filter
  /// are not around zero. The rate has then changed by less than a single error shows.
  @_noLocks
  private mutating func widenSlowest(noise: Double) {
    let mean = meanErrors[0]
    guard abs(mean) > Self.maximumUnevenMean + Self.maximumMeanNoise * noise else { return }
    forget(mean, rate: 2 * mean / Self.meanSeconds)
    meanErrors[0] = 0
  }

  /// Feeds a position to all filters. For the slowest filter, the differences between readings that
  /// a continuously changing rate causes count as noise.
  @_noLocks
  mutating func takeAll(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double
  ) {
    for index in filters.indices {
      filters[index].take(position, at: time, noise: index == 0 ? noise : evenNoise)
    }
  }

  /// Switches to the slowest filter that follows. `isSudden` means that not even the fastest filter
  /// follows.
  @_noLocks
  private mutating func followEven(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double, isSudden: Bool
  ) -> GrownError? {
    let seconds = Double(Int64(bitPattern: time &- filters[active].nanoseconds)) * 1e-9
    guard seconds > 0 else { return nil }
    let error = position - filters[active].frames(at: time)
    let grows = grows(error)
    lastError = error
    for index in filters.indices {
      let error = position - filters[index].frames(at: time)
      meanErrors[index] += (error - meanErrors[index]) / 4
      let isOff =
        Self.isOff(error, noise: evenNoise)
        || abs(meanErrors[index]) > Self.maximumMean + Self.maximumMeanNoise * evenNoise
      convergedCount[index] = isOff ? 0 : convergedCount[index] &+ 1
    }
    // If the fastest filter does not follow either, or the rate was stable for long, the rate has
    // changed suddenly.
    if grows, convergedCount[active] == 0, isSudden || rateChangeCountdown == 0 {
      return GrownError(frames: error, seconds: max(Self.minimumSeconds, seconds))
    }
    if active == 0 { widenSlowest(noise: noise) }
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
    choose(grows: grows)
    return nil
  }

  /// Returns whether the error of the active filter has grown. The error of a clock that jumped
  /// stays the same or falls.
  @_noLocks
  private func grows(_ error: Double) -> Bool {
    let growth = abs(error) > Self.roundedFrames ? Self.growth : 1
    return error * lastError > 0 && abs(lastError) > Self.minimumPart * abs(error)
      && abs(error) > growth * abs(lastError)
  }

  /// Handles a change of the rate: all filters that do not follow continue from the state of the
  /// active filter and learn the rate again, and all filters use the position.
  @_noLocks
  mutating func learn(
    _ grown: GrownError, _ position: Double, at time: UInt64, noise: Double, evenNoise: Double
  ) {
    forgetRate(grown, from: 0)
    active = 0
    sinceChange = 0
    rateChangeCountdown = max(rateChangeCountdown, Self.changeMemory)
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
    choose(grows: true)
  }

  /// Prepares for a rate that may keep changing: the faster filters learn it again, in case errors
  /// grow once more, and all filters use the position.
  @_noLocks
  mutating func expectRateRamp(
    _ grown: GrownError, _ position: Double, at time: UInt64, noise: Double, evenNoise: Double
  ) {
    forgetRate(grown, from: 1)
    rateChangeCountdown = max(rateChangeCountdown, Self.knownChangeMemory)
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
  }

  @_noLocks
  private mutating func forgetRate(_ grown: GrownError, from slowest: Int) {
    for index in slowest..<Each<KalmanClockFilter>.count where convergedCount[index] == 0 {
      adopt(into: index)
      filters[index].forget(grown.frames, rate: 2 * grown.frames / grown.seconds)
    }
  }

  /// Switches to a faster filter if errors grow, and to a slower one that has followed for long
  /// enough. Slower filters that do not follow continue from the state of the active one.
  @_noLocks
  private mutating func choose(grows: Bool) {
    var next = active
    while grows, next < Self.fastest, convergedCount[next] == 0 { next &+= 1 }
    if next > active { use(next) }
    var slowest = 0
    while slowest < active, convergedCount[slowest] < Self.convergedStretches { slowest &+= 1 }
    active = slowest
    for index in 0..<active where convergedCount[index] == 0 { adopt(into: index) }
    if active > 0 { rateChangeCountdown = Self.rampMemory }
  }

  /// Switches to a faster filter because the rate keeps changing.
  @_noLocks
  private mutating func use(_ faster: Int) {
    (active, rateChangeCountdown) = (faster, Self.rampMemory)
    adoptIntoSlower()
  }

  /// Lets all slower filters continue from the state of the active one.
  @_noLocks
  private mutating func adoptIntoSlower() {
    for index in 0..<active { adopt(into: index) }
  }

  /// Lets a filter continue from the state of the active one. Its mean error restarts at zero, and
  /// it counts as having followed for one stretch.
  @_noLocks
  private mutating func adopt(into index: Int) {
    filters[index].adopt(filters[active])
    meanErrors[index] = 0
    convergedCount[index] = 1
  }
}
