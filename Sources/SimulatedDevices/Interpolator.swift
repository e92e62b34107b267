// Audio thread.
import AudioBasics
import AudioClocks

/// Reads between the frames of a band-limited signal: a sinc under a Kaiser window.
///
/// With its full width it is right to better than 100 dB up to 0.45 of the rate; 0.1 of the rate
/// is what the window takes for its slope, and 2.285 dB a tap and radian what it gives for it.
struct Interpolator: ~Copyable, Sendable {
  /// Taps on each side when nothing holds them back.
  static let fullHalfWidth = 36
  private static let phaseCount = 512

  /// Taps on each side.
  let halfWidth: Int
  /// One row of taps for each phase, and the first one again, a frame later, at the end.
  private let rows: SampleBuffer
  private var taps: SampleBuffer
  private var nextTaps: SampleBuffer

  /// Taps in all.
  var width: Int {
    @_noLocks get { 2 &* halfWidth }
  }

  /// For one fraction of a frame that stays, whose taps are exact; or, where it is nil, for
  /// fractions that change from frame to frame, between the phases of a table.
  init(halfWidth: Int, fraction: Double?) {
    let phases = fraction == nil ? Self.phaseCount + 1 : 1
    var rows = SampleBuffer(frameCount: phases, channelCount: 2 * halfWidth)
    for row in 0..<phases {
      KaiserSinc.design(
        &rows, row: row, halfWidth: halfWidth,
        fraction: fraction ?? Double(row) / Double(Self.phaseCount))
    }
    var taps = SampleBuffer(frameCount: 1, channelCount: 2 * halfWidth)
    taps.copy(rows, frames: 1)
    self.halfWidth = halfWidth
    self.rows = rows
    self.taps = taps
    nextTaps = SampleBuffer(frameCount: 1, channelCount: 2 * halfWidth)
  }

  /// Turns to another fraction of a frame, 0 up to 1.
  @_noLocks
  mutating func turn(to fraction: Double) {
    let phase = fraction * 512
    let row = max(0, min(511, Int(clamping: phase)))
    let weight = Float(phase - Double(row))
    taps.replace(at: 0, with: rows, from: row, frames: 1)
    taps.scale(frames: 1, by: 1 - weight)
    nextTaps.replace(at: 0, with: rows, from: row &+ 1, frames: 1)
    nextTaps.scale(frames: 1, by: weight)
    taps.add(nextTaps, frames: 1)
  }

  /// The weight of one tap.
  @_noLocks
  func weight(of tap: Int) -> Float {
    taps[tap]
  }

  /// One channel's value between frame `firstFrame + halfWidth - 1` of `window` and the next.
  @_noLocks
  func value(in window: borrowing SampleBuffer, from firstFrame: Int, channel: Int) -> Float {
    let stride = window.channelCount
    var index = firstFrame &* stride &+ channel
    var sum: Float = 0
    var tap = 0
    while tap < width {
      sum += window[index] * taps[tap]
      index &+= stride
      tap &+= 1
    }
    return sum
  }
}
