// Audio thread.

import AudioBasics
import Glibc

/// How loud four broad bands of a sound are, once every hop of 2.7 ms: a tone that grows is seen
/// beside a voice in another band.
///
/// Each band is a state variable filter in the trapezoidal form of A. Simper ("Linear Trapezoidal
/// Integrated State Variable Filter", 2013), the four side by side in one vector. Above 32 kHz not
/// every frame is looked at: a tone folded down is as loud as it was, and levels are all that
/// counts here. A wave's energy is told from moment to moment, and not only over whole periods, as
/// v1 v1 - v0 v2, v0, v1 and v2 being the high, the middle and the low output: for a tone all are
/// a quarter of a period apart, and the sum of the squares of its sine and its cosine stands still
/// (after J. F. Kaiser, "On a simple algorithm to calculate the energy of a signal", 1990). A hop's
/// level is that of the last four.
struct HopLevels: BitwiseCopyable {
  /// Levels of the last four hops in dBFS, a full-scale sine being -3.
  private(set) var levels = SIMD4<Float>(repeating: -200)
  /// The band that is loudest.
  private(set) var loudest = 0
  /// Frames of a hop.
  let hopFrames: Int
  /// Whether the tone's pitch is being found out as well.
  var findsPitch = false

  private let stride: Int
  private let a1: SIMD4<Float>
  private let a2: SIMD4<Float>
  private let g: SIMD4<Float>
  private let peakGain: SIMD4<Float>
  private let share: Float
  private var first = SIMD4<Float>(repeating: 0)
  private var second = SIMD4<Float>(repeating: 0)
  private var energy = SIMD4<Float>(repeating: 0)
  private var looked: Float = 0
  /// Frames until the next one that is looked at.
  private var skip = 0
  private var filled = 0
  private var energies = (
    SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0)
  )
  private var before = SIMD4<Float>(repeating: 0)
  private var products = SIMD4<Float>(repeating: 0)
  private var squares = SIMD4<Float>(repeating: 0)

  init(sampleRate: Int, channelCount: Int) {
    hopFrames = max(8, sampleRate / 375)
    stride = max(1, sampleRate / 20000)
    share = 1 / Float(max(1, channelCount))
    let rate = Double(sampleRate) / Double(stride)
    let damping = 1.4
    var coefficients = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
    for (band, centre) in [180.0, 650, 2200, 7000].enumerated() {
      let g = tan(Double.pi * min(centre / rate, 0.3))
      let a1 = 1 / (1 + g * (g + damping))
      coefficients.0[band] = Float(a1)
      coefficients.1[band] = Float(g * a1)
      coefficients.2[band] = Float(g)
    }
    (a1, a2, g) = coefficients
    peakGain = SIMD4(repeating: Float(damping))
  }

  /// Listens to `buffer` from the frame `start` on, up to the end of the hop or to `end`; returns
  /// the frame it came to. `isHopOver` says which it was.
  @_noLocks
  mutating func listen(_ buffer: borrowing SampleBuffer, from start: Int, to end: Int) -> Int {
    let stop = min(end, start &+ hopFrames &- filled)
    filled &+= stop &- start
    let first = start &+ skip
    // A loop of its own for what is rare, so that the other stays in registers.
    if findsPitch {
      skip = follow(buffer, from: first, to: stop, findingPitch: true) &- stop
    } else {
      skip = follow(buffer, from: first, to: stop, findingPitch: false) &- stop
    }
    return stop
  }

  /// Takes every so manieth frame from `first` on, up to `stop`; returns the one that is next.
  @_noLocks @inline(__always)
  private mutating func follow(
    _ buffer: borrowing SampleBuffer, from first: Int, to stop: Int, findingPitch: Bool
  ) -> Int {
    let (a1, a2, g, share, stride) = (a1, a2, g, share, stride)
    let damping = peakGain
    var (state1, state2, energy) = (self.first, second, energy)
    var frame = first
    while frame < stop {
      let sample = SIMD4(repeating: buffer.sum(ofFrame: frame) * share)
      let rest = sample - state2
      let band = a1 * state1 + a2 * rest
      let low = state2 + g * band
      state1 = band + band - state1
      state2 = low + low - state2
      let high = sample - damping * band - low
      energy += band * band - high * low
      if findingPitch {
        products += band * before
        squares += band * band
        before = band
      }
      frame &+= stride
    }
    looked += Float((frame &- first) / stride)
    (self.first, second, self.energy) = (state1, state2, energy)
    return frame
  }

  /// The same for frames too soft to matter.
  @_noLocks
  mutating func passSilence(from start: Int, to end: Int) -> Int {
    let stop = min(end, start &+ hopFrames &- filled)
    filled &+= stop &- start
    first = SIMD4(repeating: 0)
    second = first
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
    let latest = energy * peakGain * peakGain / SIMD4(repeating: max(1, 2 * looked))
    let sum = (latest + energies.0 + energies.1 + energies.2) * SIMD4(repeating: 0.25)
    energies = (latest, energies.0, energies.1)
    levels = SIMD4(
      RealtimeDecibels.level(ofPower: sum[0]), RealtimeDecibels.level(ofPower: sum[1]),
      RealtimeDecibels.level(ofPower: sum[2]), RealtimeDecibels.level(ofPower: sum[3]))
    findLoudest()
    // What fades away must not end in numbers so small that they take long to compute with; nor
    // what was no number stay for good.
    if (latest .>= SIMD4(repeating: 1e-20)) == SIMDMask(repeating: false) {
      first = SIMD4(repeating: 0)
      second = first
    }
    energy = SIMD4(repeating: 0)
    looked = 0
    filled = 0
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

  /// Starts finding the pitch out.
  @_noLocks
  mutating func beginPitch() {
    findsPitch = true
    products = SIMD4(repeating: 0)
    squares = products
  }

  /// The cosine of the angle a band's tone turns by from one looked at frame to the next.
  @_noLocks
  func pitchCosine(band: Int) -> Float {
    squares[band] > 0 ? products[band] / squares[band] : 0
  }
}

/// The levels of four bands over the last second and more, and what a feedback loop looks like in
/// them: the same rise in dB again and again, or a loudness that stands.
struct LevelHistory: ~Copyable {
  private var levels: SampleBuffer
  private var gains: SampleBuffer
  private var next = 0
  private static var capacity: Int { @_noLocks get { 512 } }
  /// Hops that growth is looked for in, at least and at most.
  private static var shortest: Int { @_noLocks get { 48 } }
  private static var longest: Int { @_noLocks get { 384 } }
  /// dB by which what grows rises at least. What begins in digital silence rises by more than the
  /// most, and is no straight line.
  private static var leastRise: Float { @_noLocks get { 6 } }
  private static var mostRise: Float { @_noLocks get { 120 } }

  init() {
    levels = SampleBuffer(frameCount: Self.capacity, channelCount: 4)
    gains = SampleBuffer(frameCount: Self.capacity, channelCount: 1)
    clear()
  }

  /// Forgets everything.
  @_noLocks
  mutating func clear() {
    var index = 0
    while index < levels.sampleCount {
      levels[index] = -200
      index &+= 1
    }
  }

  /// Adds a hop, which the limiters leave `gain` dB of.
  @_noLocks
  mutating func add(_ hop: SIMD4<Float>, gain: Float) {
    next = (next &+ 1) & (Self.capacity &- 1)
    gains[next] = gain
    levels.setFourSamples(hop, at: next &* 4)
  }

  /// A band's level `age` hops ago.
  @_noLocks
  func level(band: Int, age: Int) -> Float {
    levels[((next &- age) & (Self.capacity &- 1)) &* 4 &+ band]
  }

  /// Which bands rose enough over any of the times that `growth` looks at: few do, and only those
  /// are worth a closer look.
  @_noLocks
  func risingBands() -> SIMDMask<SIMD4<Int32>> {
    let now = levels.fourSamples(at: next &* 4)
    var rising = SIMDMask<SIMD4<Int32>>(repeating: false)
    var length = Self.shortest
    while length <= Self.longest {
      let place = (next &- length &+ 1) & (Self.capacity &- 1)
      let rise = now - levels.fourSamples(at: place &* 4)
      rising .|= (rise .> SIMD4(repeating: Self.leastRise))
        .& (rise .< SIMD4(repeating: Self.mostRise))
      length &*= 2
    }
    return rising
  }

  /// A band's level `age` hops ago as it was played.
  @_noLocks
  func playedLevel(band: Int, age: Int) -> Float {
    let mask = Self.capacity &- 1
    let place = next &- age
    return level(band: band, age: age) + 0.25
      * (gains[place & mask] + gains[(place &- 1) & mask] + gains[(place &- 2) & mask]
        + gains[(place &- 3) & mask])
  }

  /// The growth of a band in dB a hop, where it is that of a loop: a straight line in dB for the
  /// last 128, 256, 512 or 1024 ms, by at least 6 dB, but for `spread` dB.
  @_noLocks
  func growth(band: Int, spread: Float) -> Float? {
    var length = Self.shortest
    while length <= Self.longest {
      if let growth = growth(band: band, length: length, spread: spread) { return growth }
      length &*= 2
    }
    return nil
  }

  /// Fits a line to the last `length` levels.
  @_noLocks
  private func growth(band: Int, length: Int, spread: Float) -> Float? {
    let now = level(band: band, age: 0)
    let rise = now - level(band: band, age: length &- 1)
    guard rise > Self.leastRise && rise < Self.mostRise else { return nil }
    var sum: Float = 0
    var moment: Float = 0
    var squares: Float = 0
    let middle = Float(length &- 1) / 2
    var age = 0
    while age < length {
      let value = level(band: band, age: age) - now
      sum += value
      squares += value * value
      moment += value * (middle - Float(age))
      age &+= 1
    }
    let count = Float(length)
    let moments = count * (count * count - 1) / 12
    let slope = moment / moments
    let rest = (squares - sum * sum / count - slope * moment) / count
    // What speech and struck strings do is never so straight.
    let bound = max(spread, 0.03 * slope * count)
    return slope * count > Self.leastRise && rest < bound * bound ? slope : nil
  }

  /// Whether a band is about as loud as it was `hops` hops ago, and half of them ago.
  @_noLocks
  func stands(band: Int, hops: Int) -> Bool {
    let now = level(band: band, age: 0) + 2
    return now > level(band: band, age: hops) && now > level(band: band, age: hops / 2)
  }
}
