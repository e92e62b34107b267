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

  /// Looks at the disk of `path`, the growing file. Returns the seconds left, where they are known.
  mutating func look(at path: String, news: RecordingNews) -> Double? {
    guard !plan.isStream, let free = DiskSpace.freeByteCount(at: OutputFolder.folder(of: path))
    else { return nil }
    // An encoder takes less: there this is the least that is left.
    let frameByteCount = plan.channelCount * plan.sampleFormat.byteCount
    let left = Double(free) / Double(frameByteCount * plan.sampleRate)
    // Room that was made is room.
    marksLeft = Self.marks.filter { $0 < left || marksLeft.contains($0) }
    if let reached = marksLeft.first(where: { left <= $0 }) {
      // Of several at once the shortest is the one that counts.
      marksLeft.removeAll { $0 >= left || $0 == reached }
      news.tell(.diskLow(seconds: left))
    }
    return left
  }
}
