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
