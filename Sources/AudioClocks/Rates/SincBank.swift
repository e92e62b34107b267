// Audio thread.
import AudioBasics
import CVectors

/// The weights that interpolate a signal between its frames: a windowed sinc, stored as a table.
///
/// Unstretched, the sinc's edge is half the rate. The weights of 64 positions between two frames
/// are rows of a table that stays in the nearest CPU cache, and a cubic through four neighbouring
/// rows gives the weights in between. It is accurate to 140 dB at 20 of 24 kHz: Lagrange's
/// remainder is 3/128 of the fourth power of the radians from row to row. At the position of a
/// frame, the weights are exactly 1 for it and 0 for all others. Rows and weights have the layout
/// of `WeightRow`.
///
/// Stretched, the sinc is wider by any factor and its edge lower. Each weight is then interpolated
/// linearly between two of the 512 points per frame of the curve. It is accurate to 120 dB, as
/// measured.
struct SincBank: ~Copyable, Sendable {
  private static let rowBits = 6
  private static let rowsPerFrame = 1 << rowBits
  private static let pointsPerFrame = 512

  /// The number of frames on each side that the unstretched kernel covers, a multiple of 4.
  let halfWidth: Int
  /// The rows, from one position before a frame to two positions after the next frame.
  private let rows: SampleBuffer
  /// The right half of the kernel.
  private let curve: SampleBuffer
  /// The weights computed last.
  private var weights: SampleBuffer

  /// Creates a bank for stretches of 1 to `maximumStretch`. Not on the audio thread.
  init(quality: ConversionQuality, maximumStretch: Double) {
    let halfWidth = quality.reachFrames
    let window = quality.window
    let width = 2 * halfWidth
    var rows = SampleBuffer(
      frameCount: Self.rowsPerFrame + 3, channelCount: WeightRow.sampleCount(weights: width))
    for row in 0..<rows.frameCount {
      let fraction = Double(row - 1) / Double(Self.rowsPerFrame)
      let weights = (0..<width).map { tap in
        WindowedSinc.value(
          at: fraction - Double(tap - halfWidth + 1), halfWidth: halfWidth, window: window)
      }
      WeightRow.store(weights, in: &rows, row: row)
    }
    // Frames beyond the kernel's end, up to the next multiple of 4, have weight zero.
    let points = (halfWidth + 5) * Self.pointsPerFrame + 2
    var curve = SampleBuffer(frameCount: points, channelCount: 1)
    for point in 0..<halfWidth * Self.pointsPerFrame {
      let distance = Double(point) / Double(Self.pointsPerFrame)
      curve[point] = Float(WindowedSinc.value(at: distance, halfWidth: halfWidth, window: window))
    }
    self.halfWidth = halfWidth
    self.rows = rows
    self.curve = curve
    let widest = 2 * Self.reach(halfWidth: halfWidth, stretch: maximumStretch)
    weights = SampleBuffer(
      frameCount: WeightRow.sampleCount(weights: widest), channelCount: 1)
  }

  /// Returns the number of frames on each side that the kernel covers at `stretch`.
  @_noLocks
  func reach(stretch: Double) -> Int {
    Self.reach(halfWidth: halfWidth, stretch: stretch)
  }

  @_noLocks
  private static func reach(halfWidth: Int, stretch: Double) -> Int {
    stretch > 1 ? (Int(clamping: stretch * Double(halfWidth)) &+ 4) & ~3 : halfWidth
  }

  /// Returns the weights that give the value at `position`, for the frames from `reach` - 1 before
  /// that of `position` to `reach` after it. Valid until the next call.
  @_noLocks
  mutating func weights(at position: FramePosition, stretch: Double) -> UnsafePointer<Float> {
    if stretch > 1 {
      weighStretched(position.fraction, stretch)
    } else {
      weigh(position.fraction)
    }
    return UnsafePointer(weights.base)
  }

  /// Computes the weights by Lagrange's cubic through four rows. The position is between the second
  /// and the third.
  @_noLocks
  private mutating func weigh(_ fraction: UInt64) {
    let width = 2 &* halfWidth
    let row = Int(truncatingIfNeeded: fraction >> UInt64(64 &- Self.rowBits))
    let between = Double((fraction << UInt64(Self.rowBits)) >> 11) * 0x1p-53
    let (after, before, beyond) = (between + 1, between - 1, between - 2)
    let first = -between * before * beyond / 6
    let second = after * before * beyond / 2
    let third = -after * between * beyond / 2
    let fourth = after * between * before / 6
    let stride = WeightRow.sampleCount(weights: width)
    vectors_mix_weights(
      weights.base, rows.base + row &* stride, stride, width, first, second, third, fourth)
  }

  /// Computes the weights along the curve from the position outwards, to the left and to the right.
  @_noLocks
  private mutating func weighStretched(_ fraction: UInt64, _ stretch: Double) {
    let reach = reach(stretch: stretch)
    let share = 1 / stretch
    // The points of the curve per frame, in units of 2^-32.
    let step = Double(Self.pointsPerFrame) * 0x1p32 * share
    let past = Double(fraction) * 0x1p-64
    var left = Int(clamping: past * step)
    var right = Int(clamping: (1 - past) * step)
    let stride = Int(clamping: step)
    let scale = Float(share)
    let points = UnsafePointer(curve.base)
    var frame = 0
    while frame < reach {
      weights.base[reach &- 1 &- frame] = scale * Self.value(points, left)
      weights.base[reach &+ frame] = scale * Self.value(points, right)
      left &+= stride
      right &+= stride
      frame &+= 1
    }
    WeightRow.moveMiddle(of: weights.base, weights: 2 &* reach)
  }

  @_noLocks
  private static func value(_ points: UnsafePointer<Float>, _ position: Int) -> Float {
    let point = points + (position >> 32)
    let between = Float((position & 0xFFFF_FFFF) >> 8) * 0x1p-24
    return point[0] + between * (point[1] - point[0])
  }
}
