// Audio thread.

/// A place among frames, or a way between two of them, to 2^-64 of a frame.
///
/// Sums are exact: however many ways are added up, none of them is rounded.
struct FramePosition: BitwiseCopyable, Equatable {
  /// The frame at or before the place.
  private(set) var frame: Int
  /// How far behind it, in 2^-64 of a frame.
  private(set) var fraction: UInt64

  /// A number of frames, which may be negative; its magnitude is below 2^63.
  @_noLocks
  init(_ frames: Double) {
    var whole = Int(clamping: frames)
    var rest = frames - Double(whole)
    if rest < 0 {
      whole &-= 1
      rest += 1
    }
    // The sum may have been rounded up to a whole frame.
    if rest >= 1 {
      whole &+= 1
      rest = 0
    }
    frame = whole
    fraction = UInt64(clamping: rest * 0x1p64)
  }

  /// The same in frames, rounded to what a `Double` can say.
  var frames: Double {
    @_noLocks get { Double(frame) + Double(fraction) * 0x1p-64 }
  }

  /// Goes on by `way`, which may lead back.
  @_noLocks
  mutating func advance(by way: FramePosition) {
    let (sum, carries) = fraction.addingReportingOverflow(way.fraction)
    fraction = sum
    frame = frame &+ way.frame &+ (carries ? 1 : 0)
  }
}
