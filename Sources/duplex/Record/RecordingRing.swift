import Glibc

/// How many frames lie in memory while the disk stands still.
enum RecordingRing {
  /// Seconds that are held where nothing is said, and bytes that they take at most: 64 channels at
  /// 768 kHz would otherwise take gigabytes.
  static let usualSeconds = 12.0
  private static let usualByteCount = 268_435_456

  /// The frames of a ring of `seconds`, of the usual one where that is nil. Throws `.usage` where it
  /// would take more than half of this machine's memory: memory that is promised, and not there when
  /// sound comes, ends the recording.
  static func frameCount(
    seconds: Double?, sampleRate: Int, channelCount: Int
  ) throws(ToolFailure) -> Int {
    let frameByteCount = 4 * max(1, channelCount)
    let asked = max(1, Int(clamping: (seconds ?? usualSeconds) * Double(sampleRate)))
    guard let seconds else {
      // The next power of two, which a ring has, is no more than that either.
      let most = max(1, usualByteCount / frameByteCount)
      let power = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
      return min(asked, power)
    }
    // A ring has a power of two of frames: up to twice as many as asked for.
    let (byteCount, isTooLarge) = asked.multipliedReportingOverflow(by: 2 * frameByteCount)
    guard !isTooLarge, byteCount <= memoryByteCount / 2 else {
      let most = Double(memoryByteCount / 4) / Double(frameByteCount) / Double(sampleRate)
      throw ToolFailure(
        .usage, code: "usage",
        "A ring of \(seconds.shown(2)) s of \(channelCount) channels at \(sampleRate) Hz does not fit "
          + "in this machine's memory.",
        hint: "Give --ring \(most.shown(1)) s or less, or leave it out.")
    }
    return asked
  }

  private static var memoryByteCount: Int {
    max(0, sysconf(Int32(_SC_PHYS_PAGES)))
      .multipliedReportingOverflow(by: max(0, sysconf(Int32(_SC_PAGESIZE)))).partialValue
  }
}
