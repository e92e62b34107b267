// Audio thread.

import AudioBasics
import AudioLevels

/// The levels of four broad frequency bands of a sound, updated once per hop of 2.7 ms. A tone that
/// grows in one band is thus visible while a voice is louder in another band.
///
/// At sample rates of 40 kHz and above, only some of the frames are analysed: an aliased tone is as
/// loud as the original, and only levels matter here. The energy of a wave is measured at single
/// frames, and not only over whole periods, as v1 v1 - v0 v2, where v0, v1 and v2 are the
/// high-pass, band-pass and low-pass outputs of a band's filter: for a tone these are a quarter of
/// a period apart, and the sum of the squares of its sine and its cosine is constant (after J. F.
/// Kaiser, "On a simple algorithm to calculate the energy of a signal", 1990). The energy is
/// therefore calculated once in eight frames, and the filters process the seven frames before in
/// one step. The level of a hop is that of the last four hops; four hops may be analysed at once.
///
/// While a code is sent, each of these frames is evaluated, and the frames half-way between them as
/// well, by separate filters: an aliased tone has one sign in the former and the opposite sign in
/// the latter, so that the sum of their energies does not depend on the time at which a sound with
/// high frequencies returns.
struct HopLevels: ~Copyable {
  /// The levels of the last four hops in dBFS; a full-scale sine has -3 dBFS.
  private(set) var levels = SIMD4<Float>(repeating: -200)
  /// The index of the loudest band.
  private(set) var loudest = 0
  /// The number of frames of a hop.
  let hopFrames: Int
  /// Whether all frames are evaluated, and the pitch of the tone is measured as well.
  private(set) var isPrecise = false

  /// The number of hops whose energies form a level; the most that are analysed at once.
  static var levelHops: Int { @_noLocks get { 4 } }
  /// The number of hops, one or four, that are analysed at once: the energy of each of them is then
  /// that of all four. In a pause of the analysis, the number of its hops.
  private(set) var hopsAtOnce = 1
  /// Whether no frame is analysed until the hops are over.
  var isPaused: Bool { @_noLocks get { hopsAtOnce > Self.levelHops } }

  private let filters: BandFilters
  /// The factor from the energy of the sum of all channels to the power of a level.
  private let share: Float
  /// The frames that the filters process at the end of the hop, and the states of the filters.
  private var waiting: FrameSums
  private var state = BandFilters.Pair()
  /// The same for the frames in between, if there are any.
  private let hasFramesBetween: Bool
  private var waitingBetween: FrameSums
  private var stateBetween = BandFilters.Pair()
  /// The sums of the filters' outputs: the energy in this hop, and the products and squares since
  /// the analysis became precise.
  private var sums = BandFilters.Sums()
  /// The number of frames that the filters processed since the last level.
  private var analysedFrames: Float = 0
  /// The number of frames until the next level.
  private(set) var framesLeft: Int
  /// The energies of the last four hops, the latest first.
  private var energies = (
    SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0),
    SIMD4<Float>(repeating: 0)
  )

  /// Returns the distance in frames between two analysed frames.
  @_noLocks
  static func stride(_ sampleRate: Int) -> Int { max(1, sampleRate / 20000) }

  init(sampleRate: Int, channelCount: Int) {
    hopFrames = max(8, sampleRate / 375)
    framesLeft = hopFrames
    let stride = Self.stride(sampleRate)
    let mean = 1 / Float(max(1, channelCount))
    share = BandFilters.damping * BandFilters.damping * mean * mean / 2
    let rate = Double(sampleRate) / Double(stride)
    let centres = SIMD4(180, 650, 2200, 7000) / rate
    waiting = FrameSums(stride: stride, frameCount: Self.levelHops * hopFrames)
    hasFramesBetween = stride > 1
    waitingBetween = FrameSums(stride: stride, frameCount: Self.levelHops * hopFrames)
    filters = BandFilters(centres: pointwiseMin(centres, SIMD4(repeating: 0.3)))
  }

  /// Analyses `frames` frames of `buffer` from the frame `start` on, which may end with the hop but
  /// not behind it.
  @_noLocks @inline(__always)
  mutating func listen(_ buffer: borrowing SampleBuffer, from start: Int = 0, frames: Int) {
    framesLeft &-= frames
    if isPrecise && hasFramesBetween {
      waiting.addUnmeasured(buffer, from: start, frames: frames, between: &waitingBetween)
    } else {
      waiting.addUnmeasured(buffer, from: start, frames: frames)
    }
  }

  /// Analyses `buffer` from the frame `start` up to the end of the hop or to `end`, unless all of
  /// these frames are below `silence`, a magnitude too low to matter, which is 0 while all frames
  /// are evaluated. Returns the frame at which it stopped, and the highest magnitude of the frames;
  /// `isHopOver` tells at which end it stopped.
  @_noLocks @inline(__always)
  mutating func listen(
    _ buffer: borrowing SampleBuffer, from start: Int, to end: Int, silence: Float = 0
  ) -> (stop: Int, peak: Float) {
    let frames = min(end &- start, framesLeft)
    if isPrecise {
      listen(buffer, from: start, frames: frames)
      return (start &+ frames, buffer.peak(from: start, frames: frames))
    }
    let peak = waiting.add(buffer, from: start, frames: frames, silence: silence)
    if peak < silence { return (passSilence(from: start, to: end), peak) }
    framesLeft &-= frames
    return (start &+ frames, peak)
  }

  /// Filters the waiting frames.
  @_noLocks
  private mutating func takeWaiting() {
    if isPrecise { return takeAllWaiting() }
    guard waiting.count > 0 else { return }
    analysedFrames += Float(waiting.count)
    sums.energy += filters.take(waiting.count, of: waiting.samples, &state)
    waiting.removeAll()
  }

  /// Filters the waiting frames and the frames in between.
  @_noLocks @inline(never)
  private mutating func takeAllWaiting() {
    analysedFrames += Float(waiting.count &+ waitingBetween.count)
    filters.follow(
      waiting.count, of: waiting.samples, &state, waitingBetween.count,
      between: waitingBetween.samples,
      &stateBetween, &sums)
    waiting.removeAll()
    waitingBetween.removeAll()
  }

  /// Passes `frames` frames of a pause without analysis, which the hop has left.
  @_noLocks @inline(__always)
  mutating func pass(frames: Int) { framesLeft &-= frames }

  /// Replaces `listen` for frames from `start` up to the end of the hop or to `end` that are known
  /// to be too quiet to matter. Returns the frame at which it stopped.
  @_noLocks @inline(never)
  mutating func passSilence(from start: Int, to end: Int) -> Int {
    let frames = min(end &- start, framesLeft)
    framesLeft &-= frames
    takeWaiting()
    state = BandFilters.Pair()
    analysedFrames += 1
    return start &+ frames
  }

  /// Whether a level is due, so that `finishHops` must be called.
  var isHopOver: Bool {
    @_noLocks get { framesLeft <= 0 }
  }

  /// Calculates the levels at the end of a hop, or of four that are analysed at once.
  @_noLocks
  mutating func finishHops() {
    takeWaiting()
    let latest = sums.energy * SIMD4(repeating: share / max(1, analysedFrames))
    energies =
      hopsAtOnce > 1
      ? (latest, latest, latest, latest) : (latest, energies.0, energies.1, energies.2)
    let sum = (latest + energies.1 + energies.2 + energies.3) * SIMD4(repeating: 0.25)
    levels = RealtimeDecibels.levels(ofPowers: sum)
    findLoudest()
    // A decaying sound must not end in denormal numbers, which take long to compute with, and a
    // value that is not a number (NaN) must not stay in the filters permanently.
    if !any(latest .>= SIMD4(repeating: 1e-20)) {
      state = BandFilters.Pair()
      stateBetween = state
    }
    sums.energy = SIMD4(repeating: 0)
    analysedFrames = 0
    analyse(hopsAtOnce: hopsAtOnce)
  }

  /// Analyses one or four hops at once from now on, the end of a hop, or pauses for `hops` hops.
  @_noLocks
  mutating func analyse(hopsAtOnce hops: Int) {
    hopsAtOnce = hops
    framesLeft = hops &* hopFrames
  }

  /// Returns a band's energies in the last four hops, the latest first.
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

  /// Evaluates all frames from now on, and starts to measure the pitch again.
  @_noLocks
  mutating func bePrecise() {
    takeWaiting()
    if !isPrecise {
      stateBetween = state
      waitingBetween.begin(between: waiting)
    }
    isPrecise = true
    sums.products = SIMD4(repeating: 0)
    sums.squares = sums.products
  }

  /// Analyses every `stride`-th frame from now on.
  @_noLocks
  mutating func beImprecise() {
    takeWaiting()
    isPrecise = false
  }

  /// Returns the cosine of the phase angle of a band's tone between two analysed frames.
  @_noLocks
  func pitchCosine(band: Int) -> Float {
    sums.squares[band] > 0 ? sums.products[band] / sums.squares[band] : 0
  }
}
