import CSndFile

/// The time at which the first frame of a recording was captured, in the form used by broadcast WAV
/// files (EBU Tech 3285): local date and time, and the number of frames since local midnight.
public struct Origination: Sendable, Equatable {
  /// The local date, such as 2026-11-21.
  public let date: String
  /// The local time, such as 20:47:37.
  public let time: String
  /// The number of frames between local midnight, by wall-clock time, and the first frame.
  public let timeReference: Int

  /// Creates the origination for a time in nanoseconds since the beginning of 1970 (UTC), in the
  /// time zone of this process. `sampleRate` is in frames per second.
  public init(nanosecondsSinceEpoch: UInt64, sampleRate: Int) {
    let local = LocalTime(nanosecondsSinceEpoch)
    date = local.formatted("%Y-%m-%d")
    time = local.formatted("%H:%M:%S")
    let nanoseconds = Int(nanosecondsSinceEpoch % 1_000_000_000)
    // The limit is above the rate of any file, and prevents an overflow in the multiplication.
    let rate = min(max(0, sampleRate), 1 << 31)
    timeReference = local.secondOfDay * rate + nanoseconds * rate / 1_000_000_000
  }

  /// Reads the origination of a broadcast WAV file. Returns nil if the file has none.
  init?(of handle: borrowing SoundFileHandle) {
    var chunk = SF_BROADCAST_INFO()
    let size = Int32(MemoryLayout<SF_BROADCAST_INFO>.size)
    guard
      sf_command(handle.pointer, Int32(SFC_GET_BROADCAST_INFO), &chunk, size) == Int32(SF_TRUE)
    else { return nil }
    date = SoundFileTags.text(inField: chunk.origination_date)
    time = SoundFileTags.text(inField: chunk.origination_time)
    timeReference = Int(
      clamping: UInt64(chunk.time_reference_high) << 32 | UInt64(chunk.time_reference_low))
  }
}
