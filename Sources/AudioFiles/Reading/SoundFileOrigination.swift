import CSndFile

/// When the first frame of a recording was captured, as broadcasters note it (EBU Tech 3285): by
/// the local clock, and as a number of frames since local midnight.
public struct Origination: Sendable, Equatable {
  /// The local date, as in 2026-11-21.
  public let date: String
  /// The local time, as in 20:47:37.
  public let time: String
  /// Frames between local midnight, by the clock on the wall, and the first frame.
  public let timeReference: Int

  /// The time `nanoseconds` nanoseconds after the beginning of 1970 (UTC), in the time zone of this
  /// process, for a file of `sampleRate` frames a second.
  public init(nanosecondsSinceEpoch: UInt64, sampleRate: Int) {
    let local = LocalTime(nanosecondsSinceEpoch)
    date = local.formatted("%Y-%m-%d")
    time = local.formatted("%H:%M:%S")
    let nanoseconds = Int(nanosecondsSinceEpoch % 1_000_000_000)
    // More than any file has, and few enough to multiply.
    let rate = min(max(0, sampleRate), 1 << 31)
    timeReference = local.secondOfDay * rate + nanoseconds * rate / 1_000_000_000
  }

  /// What a broadcast WAV file says of it; nil where it says nothing.
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
