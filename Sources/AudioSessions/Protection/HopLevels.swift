// Audio thread.

import AudioBasics
import AudioLevels

/// The levels of four broad frequency bands of a sound, once every hop of 2.7 ms: a tone that grows
/// is seen beside a voice in another band.
///
/// From 40 kHz on not every frame is looked at: a tone folded down is as loud as it was, and levels
/// are all that counts here. A wave's energy is told from moment to moment, and not only over whole
/// periods, as v1 v1 - v0 v2, v0, v1 and v2 being the high, the middle and the low output of a
/// band's filter: for a tone all are a quarter of a period apart, and the sum of the squares of its
/// sine and its cosine stands still (after J. F. Kaiser, "On a simple algorithm to calculate the
/// energy of a signal", 1990). So it is told once in eight frames, and the filters take the seven
/// before it in one go. A hop's level is that of the last four.
///
/// For as long as a code is sent, each of them is looked at, and the frames half-way in between as
/// well, by filters of their own: what is folded down has one sign in the former and the other one
/// in the latter, so that their energies together do not depend on when a sound with high
/// frequencies comes back.
struct HopLevels: ~Copyable {
  /// Levels of the last four hops in dBFS, a full-scale sine being -3.
  private(set) var levels = SIMD4<Float>(repeating: -200)
  /// The band that is loudest.
  private(set) var loudest = 0
  /// Frames of a hop.
  let hopFrames: Int
  /// Whether all frames are looked at, and the tone's pitch is being found out as well.
  private(set) var isPrecise = false

  private let stride: Int
  private let filters: BandFilters
  /// What makes a level of the energy of a sum of channels.
  private let share: Float
  private var state = BandFilters.Pair()
  /// Sums of the channels of frames that the filters take at the end of the hop, and how many.
  private var waiting: SampleBuffer
  private var waitingCount = 0
  /// The same of the frames in between.
  private var stateBetween = BandFilters.Pair()
  private var waitingBetween: SampleBuffer
  private var waitingBetweenCount = 0
  /// What the filters made of this hop, and of the sound since it is precise.
  private var sums = BandFilters.Sums()
  /// Frames that the filters took in this hop.
  private var looked: Float = 0
  /// Frames until the next one that is looked at, and until the next one in between.
  private var skip = 0
  private var skipBetween = 0
  private var filled = 0
  /// The energies of the last four hops, the latest first.
  private var energies = (
    SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0),
    SIMD4<Float>(repeating: 0)
  )

  /// Frames from one that is looked at to the next.
  @_noLocks
  static func stride(_ sampleRate: Int) -> Int { max(1, sampleRate / 20000) }

  init(sampleRate: Int, channelCount: Int) {
    hopFrames = max(8, sampleRate / 375)
    stride = Self.stride(sampleRate)
    let mean = 1 / Float(max(1, channelCount))
    share = BandFilters.damping * BandFilters.damping * mean * mean / 2
    let rate = Double(sampleRate) / Double(stride)
    let centres = SIMD4(180, 650, 2200, 7000) / rate
    waiting = SampleBuffer(frameCount: 2 * hopFrames, channelCount: 1)
    waitingBetween = SampleBuffer(frameCount: 2 * hopFrames, channelCount: 1)
    filters = BandFilters(centres: pointwiseMin(centres, SIMD4(repeating: 0.3)))
  }

  /// Listens to `buffer` from the frame `start` on, up to the end of the hop or to `end`; returns
  /// the frame it came to. `isHopOver` says which it was.
  @_noLocks
  mutating func listen(_ buffer: borrowing SampleBuffer, from start: Int, to end: Int) -> Int {
    let stop = min(end, start &+ hopFrames &- filled)
    filled &+= stop &- start
    let first = start &+ skip
    let count = waiting.replace(
      at: waitingCount, withSumsOf: buffer, apart: stride, from: first, to: stop)
    waitingCount &+= count
    skip = first &+ count &* stride &- stop
    if isPrecise { listenBetween(buffer, from: start, to: stop) }
    return stop
  }

  /// The same for the frames in between. Kept apart, so that what is common stays small.
  @_noLocks @inline(never)
  private mutating func listenBetween(
    _ buffer: borrowing SampleBuffer, from start: Int, to stop: Int
  ) {
    guard stride > 1 else { return }
    let first = start &+ skipBetween
    let count = waitingBetween.replace(
      at: waitingBetweenCount, withSumsOf: buffer, apart: stride, from: first, to: stop)
    waitingBetweenCount &+= count
    skipBetween = first &+ count &* stride &- stop
  }

  /// The filters take what waits for them.
  @_noLocks
  private mutating func takeWaiting() {
    if isPrecise { return takeAllWaiting() }
    guard waitingCount > 0 else { return }
    looked += Float(waitingCount)
    sums.energy += filters.take(waitingCount, of: waiting, &state)
    waitingCount = 0
  }

  /// The same with the frames in between.
  @_noLocks @inline(never)
  private mutating func takeAllWaiting() {
    looked += Float(waitingCount &+ waitingBetweenCount)
    filters.follow(
      waitingCount, of: waiting, &state, waitingBetweenCount, between: waitingBetween,
      &stateBetween, &sums)
    waitingCount = 0
    waitingBetweenCount = 0
  }

  /// As `listen`, for frames too soft to matter.
  @_noLocks
  mutating func passSilence(from start: Int, to end: Int) -> Int {
    let stop = min(end, start &+ hopFrames &- filled)
    filled &+= stop &- start
    takeWaiting()
    state = BandFilters.Pair()
    looked += 1
    return stop
  }

  /// Whether a hop is over, and `finishHop` is due.
  var isHopOver: Bool {
    @_noLocks get { filled >= hopFrames }
  }

  /// Sums a hop up.
  @_noLocks
  mutating func finishHop() {
    takeWaiting()
    let latest = sums.energy * SIMD4(repeating: share / max(1, looked))
    let sum = (latest + energies.0 + energies.1 + energies.2) * SIMD4(repeating: 0.25)
    energies = (latest, energies.0, energies.1, energies.2)
    levels = RealtimeDecibels.levels(ofPowers: sum)
    findLoudest()
    // What fades away must not end in numbers so small that they take long to compute with; nor
    // what was no number stay for good.
    if !any(latest .>= SIMD4(repeating: 1e-20)) {
      state = BandFilters.Pair()
      stateBetween = state
    }
    sums.energy = SIMD4(repeating: 0)
    looked = 0
    filled = 0
  }

  /// A band's energies in the last four hops, the latest first.
  @_noLocks
  func energies(band: Int) -> SIMD4<Float> {
    SIMD4(energies.0[band], energies.1[band], energies.2[band], energies.3[band])
  }

  @_noLocks
  private mutating func findLoudest() {
    loudest = 0
    var band = 1
    while band < 4 {
      if levels[band] > levels[loudest] { loudest = band }
      band &+= 1
    }
  }

  /// Looks at all frames from now on, and finds the pitch out anew.
  @_noLocks
  mutating func bePrecise() {
    takeWaiting()
    if !isPrecise {
      stateBetween = state
      skipBetween = skip &+ stride / 2
    }
    isPrecise = true
    sums.products = SIMD4(repeating: 0)
    sums.squares = sums.products
  }

  /// Looks at every `stride`-th frame from now on.
  @_noLocks
  mutating func beImprecise() {
    takeWaiting()
    isPrecise = false
  }

  /// The cosine of the angle a band's tone turns by from one looked at frame to the next.
  @_noLocks
  func pitchCosine(band: Int) -> Float {
    sums.squares[band] > 0 ? sums.products[band] / sums.squares[band] : 0
  }
}
