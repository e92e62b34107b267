// Audio thread.

/// Kalman filters for three ways in which a clock's rate may change: as that of a crystal, of one
/// that warms up, and of a clock that sways by some parts per million a second. One of them is in
/// use.
///
/// That is the slowest, whose estimate has the least noise, as long as its errors lie around zero.
/// Where they grow, the rate has changed suddenly, and all filters learn it anew. Where they grow
/// again soon after that, the rate goes on changing: the slowest filter whose errors do not grow is
/// used, until a slower one has followed for some time. This is a simple kind of multiple-model
/// estimation (Y. Bar-Shalom, X. R. Li, T. Kirubarajan, "Estimation with Applications to Tracking
/// and Navigation", 2001, chapter 11).
///
/// The position of some clocks moves by steps, of the machine's timer or of whole frames. Their
/// errors jump now and then, which no filter can follow and which does not mean another rate: for a
/// minute or so after a jump only the slowest filter is used, unless its errors grow while the
/// fastest one follows.
///
/// A stretch is a time of a second or so. The earliest of its readings is taken in.
struct ClockFilters: BitwiseCopyable, Sendable {
  /// Error that the filter in use has come to, and the seconds in which it did.
  struct GrownError: BitwiseCopyable {
    var frames: Double
    var seconds: Double
  }

  /// A filter does not follow where its mean error, in frames, is above `mostMean` and
  /// `mostMeanNoise` times the noise.
  private static let mostMean = 0.12
  private static let mostMeanNoise = 2.0
  /// Nor where a single error is above `mostError` and `mostErrorNoise` times the noise.
  private static let mostError = 0.4
  private static let mostErrorNoise = 4.0
  /// The mean error in place of `mostMean` where errors jump, and the seconds over which it is a
  /// mean.
  private static let mostUnevenMean = 0.5
  private static let meanSeconds = 8.0
  /// A jump is an error of the fastest filter above `jumpFrames`, after `steadyStretches` in which
  /// it has followed. Its memory fades by the factor `jumpMemory` a stretch.
  private static let jumpFrames = 0.9
  private static let jumpMemory = 0.985
  private static let steadyStretches = 5
  /// An error grows where it is larger than the one before, and that is at least `leastPart` of it.
  /// One above `roundedFrames` may come from rounding to whole frames: it must be `growth` times
  /// the one before.
  private static let roundedFrames = 0.6
  private static let growth = 1.2
  private static let leastPart = 0.1
  /// The least time in which an error came about, in seconds.
  private static let leastSeconds = 0.5
  /// Where errors jump, the clock sways if one above `swayFrames` has grown `swayStretches` times,
  /// and those of the fastest filter were below `swayPart` of it each time.
  private static let swayFrames = 1.0
  private static let swayStretches = 2
  private static let swayPart = 0.25
  /// Stretches for which a filter must follow before it is used instead of a faster one.
  private static let calmStretches = 16
  /// Stretches after a change of the rate in which another one means that it goes on changing, and
  /// after that has ended.
  private static let changeMemory = 20
  private static let swayMemory = 120
  /// The same after a change that readings from before and after it tell of.
  private static let knownChangeMemory = 8
  /// Nanoseconds after a change of the rate while it was being found in which another one means
  /// that it goes on changing.
  private static let unrestMemory: UInt64 = 15_000_000_000
  /// Stretches after a change of the rate in which the filters learn.
  private static let learningStretches = 4

  /// Something of each filter.
  private typealias Each<Value> = InlineArray<4, Value>
  /// The slowest one first.
  private var filters: Each<DelayLockedLoop>
  /// The number of the filter in use.
  private var active = 0
  /// The mean error of each over some four stretches, and the stretches since it was too large.
  private var meanErrors = Each(repeating: 0.0)
  private var calm = Each(repeating: 0)
  /// The last error of the filter in use, and for how many stretches errors have grown where they
  /// jump.
  private var lastError = 0.0
  private var growing = 0
  /// Stretches in which a change of the rate is one of several.
  private var restless = 0
  /// When the rate last changed while it was being found; 0 where it never did.
  private var unrestNanoseconds: UInt64 = 0
  private var sinceChange = learningStretches
  /// Whether the last reading was left out since it may have been late.
  private var wasLate = false
  /// Stretches for which the fastest filter has followed, and the largest of its errors that came
  /// suddenly, which is slowly forgotten.
  private var steady = 0
  private var largestJump = 0.0
  /// Whether only the slowest filter is used, and was before the last stretch.
  private var isUneven = true
  private var wasUneven = true

  /// Filters of a clock of nominally `framesPerSecond`.
  @_noLocks
  init(framesPerSecond: Double) {
    filters = [
      DelayLockedLoop(framesPerSecond: framesPerSecond, wanderPPM: 0.015, swayPPM: 0.001),
      DelayLockedLoop(framesPerSecond: framesPerSecond, wanderPPM: 0.05, swayPPM: 0.1),
      DelayLockedLoop(framesPerSecond: framesPerSecond, wanderPPM: 0.1, swayPPM: 1),
      DelayLockedLoop(framesPerSecond: framesPerSecond, wanderPPM: 0.2, swayPPM: 4),
    ]
  }

  private static var fastest: Int { @_noLocks get { Each<DelayLockedLoop>.count &- 1 } }

  /// The filter in use.
  var current: DelayLockedLoop { @_noLocks get { filters[active] } }

  /// Whether the rate has kept still: the slowest filter is in use, and errors do not jump.
  var isStill: Bool {
    @_noLocks get {
      active == 0 && restless <= Self.knownChangeMemory && !(isUneven && wasUneven)
    }
  }

  /// All begin anew: see `DelayLockedLoop`.
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

  /// The clock runs at another rate: see `DelayLockedLoop`.
  @_noLocks
  mutating func forget(_ uncertainty: Double, rate: Double) {
    for index in filters.indices { filters[index].forget(uncertainty, rate: rate) }
  }

  /// The clock has another place: see `DelayLockedLoop`.
  @_noLocks
  mutating func move(to reading: ClockReading, noise: Double) {
    for index in filters.indices { filters[index].move(to: reading, noise: noise) }
  }

  /// Readings before now do not count any more.
  @_noLocks
  mutating func forgetReadings() { meanErrors = Each(repeating: 0) }

  /// Takes in that the clock was at `position` at `time`, which is usually wrong by `noise` frames,
  /// and nothing else.
  @_noLocks
  mutating func take(_ position: Double, at time: UInt64, noise: Double) {
    takeAll(position, at: time, noise: noise, evenNoise: noise)
    isUneven = true
  }

  /// Whether a reading that is off by more than `limit` frames means that the clock is another one:
  /// a fast filter does not follow either, and is not learning. Of a rate that has kept still that
  /// is the second fastest, as the fastest soon follows a step of the rate, too, but does not tell
  /// it as well as an estimate that begins anew.
  @_noLocks
  func isLost(_ position: Double, at time: UInt64, limit: Double) -> Bool {
    guard !isUneven else { return true }
    let fast = restless > 0 ? Self.fastest : Self.fastest &- 1
    return sinceChange >= Self.learningStretches
      && abs(position - filters[fast].frames(at: time)) > limit / 2
  }

  /// The rate changes while it is being found: what follows is one of several changes. Returns
  /// whether it did so shortly before as well.
  @_noLocks
  mutating func noteUnstableRate(at time: UInt64) -> Bool {
    restless = max(restless, Self.knownChangeMemory + 1)
    let wasShortlyBefore = unrestNanoseconds > 0 && time &- unrestNanoseconds < Self.unrestMemory
    unrestNanoseconds = time
    return wasShortlyBefore
  }

  /// The rate goes on changing, and all filters have begun anew.
  @_noLocks
  mutating func useFastest() {
    (isUneven, largestJump) = (false, 0)
    use(Self.fastest)
  }

  /// The rate has changed, and all filters have begun anew with what is known of that.
  @_noLocks
  mutating func noteChange() {
    sinceChange = 0
    largestJump = 0
    restless = Self.knownChangeMemory
  }

  /// Takes in the earliest reading of a stretch: the clock was at `position` at `time`. By `noise`
  /// frames readings differ usually from one to the next, and by `evenNoise` from an even change.
  /// Returns the error by which the rate seems to have changed, if it does; the reading is not
  /// taken in then, but by `learn`, `expectSway` or `takeAll`.
  @_noLocks
  mutating func follow(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double, isSettled: Bool
  ) -> GrownError? {
    wasUneven = isUneven
    restless = max(0, restless &- 1)
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
    // Late by chance, but hardly twice.
    if isOff, fastError < 0, !wasLate {
      wasLate = true
      return nil
    }
    wasLate = false
    return followEven(position, at: time, noise: noise, evenNoise: evenNoise, isSudden: isOff)
  }

  /// Whether an error is too large for a filter that follows.
  @_noLocks
  private static func isOff(_ error: Double, noise: Double) -> Bool {
    abs(error) > mostError + mostErrorNoise * noise
  }

  /// Goes by the slowest filter, until its errors grow while the fastest follows, whose error is
  /// `fastError`.
  @_noLocks
  private mutating func followUneven(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double, fastError: Double
  ) {
    adoptIntoSlower()
    active = 0
    let error = position - filters[0].frames(at: time)
    let isFollowed = abs(fastError) < Self.swayPart * abs(error)
    growing = grows(error) && isFollowed ? growing &+ 1 : 0
    lastError = error
    meanErrors[0] += (error - meanErrors[0]) / 4
    let isWandering =
      growing >= Self.swayStretches && steady >= Self.steadyStretches
      && abs(error) > Self.swayFrames
    if !isWandering { widenSlowest(noise: noise) }
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
    calm = Each(repeating: 0)
    guard isWandering else { return }
    (isUneven, largestJump, growing) = (false, 0, 0)
    use(Self.fastest)
  }

  /// Where the errors of the slowest filter do not lie around zero, the clock's rate changed by
  /// less than shows in one of them, and the filters may be wrong by what they tell.
  @_noLocks
  private mutating func widenSlowest(noise: Double) {
    let mean = meanErrors[0]
    guard abs(mean) > Self.mostUnevenMean + Self.mostMeanNoise * noise else { return }
    forget(mean, rate: 2 * mean / Self.meanSeconds)
    meanErrors[0] = 0
  }

  /// All take in a place. What differs from one reading to the next because the clock sways is
  /// noise for the slowest.
  @_noLocks
  mutating func takeAll(
    _ position: Double, at time: UInt64, noise: Double, evenNoise: Double
  ) {
    for index in filters.indices {
      filters[index].take(position, at: time, noise: index == 0 ? noise : evenNoise)
    }
  }

  /// Goes by the slowest filter that follows; where the error `isSudden`, not even the fastest
  /// does.
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
        || abs(meanErrors[index]) > Self.mostMean + Self.mostMeanNoise * evenNoise
      calm[index] = isOff ? 0 : calm[index] &+ 1
    }
    // Where the fastest does not follow either, or the rate kept still for long, it has changed
    // suddenly.
    if grows, calm[active] == 0, isSudden || restless == 0 {
      return GrownError(frames: error, seconds: max(Self.leastSeconds, seconds))
    }
    if active == 0 { widenSlowest(noise: noise) }
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
    choose(grows: grows)
    return nil
  }

  /// Whether the error of the filter in use has become larger: of a clock that jumped it stays, or
  /// falls.
  @_noLocks
  private func grows(_ error: Double) -> Bool {
    let growth = abs(error) > Self.roundedFrames ? Self.growth : 1
    return error * lastError > 0 && abs(lastError) > Self.leastPart * abs(error)
      && abs(error) > growth * abs(lastError)
  }

  /// The rate has changed: all that do not follow learn it anew from where the filter in use is,
  /// and take in the place.
  @_noLocks
  mutating func learn(
    _ grown: GrownError, _ position: Double, at time: UInt64, noise: Double, evenNoise: Double
  ) {
    forgetRate(grown, from: 0)
    active = 0
    sinceChange = 0
    restless = max(restless, Self.changeMemory)
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
    choose(grows: true)
  }

  /// The rate may go on changing: the faster filters learn it anew, for the case that errors grow
  /// once more, and all take in the place.
  @_noLocks
  mutating func expectSway(
    _ grown: GrownError, _ position: Double, at time: UInt64, noise: Double, evenNoise: Double
  ) {
    forgetRate(grown, from: 1)
    restless = max(restless, Self.knownChangeMemory)
    takeAll(position, at: time, noise: noise, evenNoise: evenNoise)
  }

  @_noLocks
  private mutating func forgetRate(_ grown: GrownError, from slowest: Int) {
    for index in slowest..<Each<DelayLockedLoop>.count where calm[index] == 0 {
      adopt(into: index)
      filters[index].forget(grown.frames, rate: 2 * grown.frames / grown.seconds)
    }
  }

  /// Turns to a faster filter where errors grow, and to a slower one that has followed for long.
  /// Slower ones that do not follow go on from where the one in use is.
  @_noLocks
  private mutating func choose(grows: Bool) {
    var next = active
    while grows, next < Self.fastest, calm[next] == 0 { next &+= 1 }
    if next > active { use(next) }
    var slowest = 0
    while slowest < active, calm[slowest] < Self.calmStretches { slowest &+= 1 }
    active = slowest
    for index in 0..<active where calm[index] == 0 { adopt(into: index) }
    if active > 0 { restless = Self.swayMemory }
  }

  /// Turns to a faster filter, as the rate goes on changing.
  @_noLocks
  private mutating func use(_ faster: Int) {
    (active, restless) = (faster, Self.swayMemory)
    adoptIntoSlower()
  }

  /// All slower filters go on from where the one in use is.
  @_noLocks
  private mutating func adoptIntoSlower() {
    for index in 0..<active { adopt(into: index) }
  }

  /// A filter goes on from where the one in use is, and counts as neither off nor calm for long.
  @_noLocks
  private mutating func adopt(into index: Int) {
    filters[index].adopt(filters[active])
    meanErrors[index] = 0
    calm[index] = 1
  }
}
