import AudioFiles

/// A file that is being written, and how.
struct GrowingFile {
  let plan: RecordingPlan
  let file: RecordedFile

  /// Bytes that a second of it takes; what an encoder makes of one shows after some. Nil where it
  /// is not known.
  var bytesPerSecond: Double? {
    if plan.isStream { return nil }
    if plan.fileFormat.isPlain {
      return Double(plan.channelCount * plan.sampleFormat.byteCount * plan.sampleRate)
    }
    guard file.frames > 5 * plan.sampleRate, let size = FileRemoval.byteCount(of: file.path)
    else { return nil }
    return Double(max(1, size)) * Double(plan.sampleRate) / Double(file.frames)
  }
}

/// Watches how long the disks will last at this rate, and warns well ahead. Disk thread.
struct SpaceWatch {
  /// Seconds left at which a warning is due.
  private static let marks = [600.0, 300, 120, 60, 30, 10]

  private var marksLeft = marks

  /// Looks at the disks of `files`. Returns the seconds until the first of them is full, where they
  /// are known.
  mutating func look(at files: [GrowingFile], events: RecordingEvents) -> Double? {
    guard let left = Self.secondsLeft(files) else { return nil }
    // Room that was made is room.
    marksLeft = Self.marks.filter { $0 < left || marksLeft.contains($0) }
    if let reached = marksLeft.first(where: { left <= $0 }) {
      // Of several at once the shortest is the one that counts.
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
