import AudioFiles

/// A file that is being written, and its plan.
struct GrowingFile {
  let plan: RecordingPlan
  let file: RecordedFile

  /// The number of bytes per second of audio; for an encoded file it is known after 5 s. nil if it
  /// is not known.
  var bytesPerSecond: Double? {
    if plan.isStream { return nil }
    if plan.fileFormat.isPlain {
      return Double(plan.channelCount * plan.sampleFormat.byteCount * plan.sampleRate)
    }
    guard file.frames > 5 * plan.sampleRate, let size = FileStatus(of: file.path)?.byteCount
    else { return nil }
    return Double(max(1, size)) * Double(plan.sampleRate) / Double(file.frames)
  }
}

/// A monitor that estimates when the disks will be full at the present rate, and warns well in
/// advance. Disk thread.
struct SpaceWatch {
  /// The remaining seconds at which warnings are due.
  private static let marks = [600.0, 300, 120, 60, 30, 10]

  private var marksLeft = marks

  /// Checks the disks of `files`. Returns the seconds until the first of them is full; nil if
  /// unknown.
  mutating func check(at files: [GrowingFile], events: RecordingEvents) -> Double? {
    guard let left = Self.secondsLeft(files) else { return nil }
    // Marks become active again if space was freed.
    marksLeft = Self.marks.filter { $0 < left || marksLeft.contains($0) }
    if let reached = marksLeft.first(where: { left <= $0 }) {
      // If several marks are reached at once, only the shortest counts.
      marksLeft.removeAll { $0 >= left || $0 == reached }
      events.emit(.diskLow(seconds: left))
    }
    return left
  }

  private static func secondsLeft(_ files: [GrowingFile]) -> Double? {
    var disks: [UInt: (free: Int, rate: Double)] = [:]
    for file in files {
      guard let rate = file.bytesPerSecond,
        let space = DiskSpace(at: FileName.folder(of: file.file.path))
      else { continue }
      disks[space.disk, default: (space.freeByteCount, 0)].rate += rate
    }
    return disks.values.map { Double($0.free) / $0.rate }.min()
  }
}
