import AudioFiles

/// The condition for the next file of a recording: a request, or the number of frames or bytes that
/// the plan, the file format and the disk allow in a file. Disk thread.
struct SplitCondition {
  private let plan: RecordingPlan
  private var isRequested = false
  /// The number of frames until the file has those that the plan allows, and until it can hold no
  /// more.
  private var (plannedRoom, spaceRoom) = (Int.max, Int.max)
  /// The size in bytes at which the file can hold no more; nil if there is no limit, or if the next
  /// file could not be created there.
  private var lastByteCount: Int?
  /// The size from which the bytes of an encoded file are counted.
  private var firstByteCount = 0
  /// The size in bytes at which the disk refused more of a file; nil if it has not.
  private(set) var refusedByteCount: Int?
  /// Whether it refused more of the present file, or the next one could not be created.
  private var isRefused = false

  init(_ plan: RecordingPlan) {
    self.plan = plan
  }

  /// The number of frames until the file is full.
  var room: Int { min(plannedRoom, spaceRoom) }

  /// Requests the next file from the next frame on.
  mutating func request() { isRequested = true }

  /// Returns whether the next file is due. Cancels the request.
  mutating func takeDue() -> Bool {
    defer { isRequested = false }
    return isRequested || room == 0
  }

  /// Notes that the disk refuses more of a file of `byteCount` bytes, a limit that was not known.
  /// Requests the next file, and returns true. Returns false if the recording must end instead: it
  /// is one file, the limit is so low that it counts as a full disk, or there is no next file.
  mutating func noteRefusal(at byteCount: Int) -> Bool {
    guard plan.continuesInNextFile, !plan.isStream, !isRefused,
      byteCount > SoundFileWriter.tooSmallByteCount
    else { return false }
    refusedByteCount = min(byteCount, refusedByteCount ?? byteCount)
    isRefused = true
    request()
    return true
  }

  /// Begins with an empty file that can hold `lastByteCount` bytes; nil if there is no limit.
  mutating func begin(upTo lastByteCount: Int?) {
    isRefused = false
    self.lastByteCount = plan.continuesInNextFile && !plan.isStream ? lastByteCount : nil
    begin()
  }

  /// Begins with an empty file, or lets a file of `byteCount` bytes continue, because the next one
  /// cannot be created: by as much as the plan allows in a file, but not beyond the size at which
  /// the file can hold no more. From there on it continues until the disk refuses it.
  mutating func begin(at byteCount: Int = 0) {
    firstByteCount = byteCount
    let frameByteCount = plan.channelCount * plan.sampleFormat.byteCount
    // A file that is full continues until the disk refuses it.
    if let lastByteCount, byteCount >= lastByteCount - frameByteCount {
      self.lastByteCount = nil
      isRefused = true
    }
    switch plan.split {
    case _ where plan.isStream: plannedRoom = .max
    case .frames(let count) where count > 0: plannedRoom = count
    case .seconds(let seconds) where seconds > 0:
      plannedRoom = max(1, Int(rounding: seconds * Double(plan.sampleRate)))
    case .bytes(let count) where count > 0 && plan.fileFormat.isPlain:
      plannedRoom = max(1, (count - SoundFileWriter.headerByteCount) / frameByteCount)
    case .frames, .seconds, .bytes, .silence, nil: plannedRoom = .max
    }
    spaceRoom = .max
    if let lastByteCount, plan.fileFormat.isPlain {
      spaceRoom = max(1, (lastByteCount - byteCount) / frameByteCount)
    }
  }

  /// The size at which an encoded file is full, which is known only after frames are written; nil
  /// if its size does not matter.
  private var maximumByteCount: Int? {
    guard case .bytes(let maximum) = plan.split, maximum > 0, !plan.fileFormat.isPlain else {
      return nil
    }
    let held = SoundFileWriter.heldByteCount(channelCount: plan.channelCount)
    return maximum - min(maximum / 2, maximum / 50 + held)
  }

  /// Whether the size of the file matters.
  var countsBytes: Bool {
    maximumByteCount != nil || lastByteCount != nil && !plan.fileFormat.isPlain
  }

  /// Reserves `byteCount` more bytes of the file for metadata. There is room for at least one more
  /// frame afterwards.
  mutating func reserve(_ byteCount: Int) {
    guard let lastByteCount, byteCount > 0 else { return }
    self.lastByteCount = max(0, lastByteCount - byteCount)
    let frameByteCount = plan.channelCount * plan.sampleFormat.byteCount
    if spaceRoom != .max {
      spaceRoom = max(1, spaceRoom - (byteCount + frameByteCount - 1) / frameByteCount)
    }
  }

  /// Notes that `frames` frames were written, after which the file has `byteCount` bytes.
  mutating func note(_ frames: Int, byteCount: Int?) {
    if plannedRoom != .max { plannedRoom -= frames }
    if spaceRoom != .max { spaceRoom -= frames }
    guard let byteCount else { return }
    if let maximumByteCount, byteCount - firstByteCount >= maximumByteCount { request() }
    if let lastByteCount, byteCount >= lastByteCount { request() }
  }
}
