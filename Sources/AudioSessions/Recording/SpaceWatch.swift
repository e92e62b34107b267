import AudioFiles

/// Watches how long the disk will last at this rate, and warns well ahead. Disk thread.
struct SpaceWatch {
  /// Seconds left at which a warning is due.
  private static let marks = [600.0, 300, 120, 60, 30, 10]

  private let plan: RecordingPlan
  private var marksLeft = marks

  init(_ plan: RecordingPlan) {
    self.plan = plan
  }

  /// Looks at the disk of `file`, the growing one. Returns the seconds left, where they are known.
  mutating func look(at file: RecordedFile, news: RecordingNews) -> Double? {
    guard !plan.isStream, let bytes = byteCountOfSecond(file),
      let free = DiskSpace.freeByteCount(at: FileName.folder(of: file.path))
    else { return nil }
    let left = Double(free) / bytes
    // Room that was made is room.
    marksLeft = Self.marks.filter { $0 < left || marksLeft.contains($0) }
    if let reached = marksLeft.first(where: { left <= $0 }) {
      // Of several at once the shortest is the one that counts.
      marksLeft.removeAll { $0 >= left || $0 == reached }
      news.tell(.diskLow(seconds: left))
    }
    return left
  }

  /// What a second takes; what an encoder makes of it shows after some.
  private func byteCountOfSecond(_ file: RecordedFile) -> Double? {
    if plan.fileFormat.isPlain {
      return Double(plan.channelCount * plan.sampleFormat.byteCount * plan.sampleRate)
    }
    guard file.frames > 5 * plan.sampleRate, let size = FileRemoval.byteCount(of: file.path)
    else { return nil }
    return Double(max(1, size)) * Double(plan.sampleRate) / Double(file.frames)
  }
}
