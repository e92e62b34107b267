import AudioBasics
import AudioFiles
import RealtimeAudio

/// What of a take is kept, as its gate decides. Disk thread.
extension Take {
  /// Whether the gate only says where the next file may begin.
  private var keepsPauses: Bool { plan.split == .silence && !plan.leavesSilenceOut }

  /// Opens and closes where the gate says so, and settles what is decided.
  mutating func followGate() throws(FileFailure) {
    while let edge = gate.nextEdge() {
      switch edge {
      case .open(let frame):
        try settle(until: checkFrames + frame)
        openStretch()
      case .close(let frame):
        try settle(until: checkFrames + frame)
        if keepsPauses { series.split() } else { closeStretch() }
      }
    }
    try settle(until: checkFrames + gate.settledFrame)
  }

  private mutating func openStretch() {
    guard !isOpen else { return }
    isOpen = true
    if plan.isFilePerStretch { series.split() }
    let stretch = RecordedStretch(
      timelineFrame: settled, frame: series.frames, start: time(of: settled))
    report.stretches.append(stretch)
    guard plan.leavesSilenceOut else { return }
    news.tell(.opened(stretch))
    // A file of its own tells when it began.
    if !plan.isFilePerStretch { series.mark(LocalTime(stretch.start).text) }
  }

  mutating func closeStretch() {
    guard isOpen else { return }
    isOpen = false
    isOver = !plan.leavesSilenceOut
    guard var stretch = report.stretches.popLast() else { return }
    stretch.frames = series.frames - stretch.frame
    report.stretches.append(stretch)
    if plan.leavesSilenceOut { news.tell(.closed(stretch)) }
  }

  /// Keeps what waits before the timeline's `frame`, or leaves it out.
  mutating func settle(until frame: Int) throws(FileFailure) {
    while settled < frame {
      if keepsPauses, settled >= checkFrames { openStretch() }
      if isOpen { obey() }
      let limit = isOpen ? points.nextFrame(after: settled) : .max
      let wanted = min(frame - settled, limit - settled, Self.chunkFrames)
      let count = taken.read(into: &chunk, frames: wanted)
      guard count > 0 else { return }
      if isOpen { try keep(count) }
      let start = time(of: settled)
      do throws(FileFailure) {
        try raw?.settle(count, isKept: isOpen, start: start)
      } catch {
        loseRaw(error)
      }
      settled += count
    }
    if isOpen { obey() }
  }

  private mutating func keep(_ count: Int) throws(FileFailure) {
    let before = series.frames
    // Told even where the disk fails in the middle: what was written counts.
    defer { report.frames = series.frames }
    let start = time(of: settled)
    try series.write(chunk, frames: count, start: start)
    loudness.add(chunk, frames: count)
    for gap in gaps.overlap(with: settled..<settled + count) {
      tellGap(RecordingGap(frame: before + gap.lowerBound - settled, frames: gap.count))
    }
  }

  /// A gap goes on where its last piece ended.
  private mutating func tellGap(_ gap: RecordingGap) {
    if let last = report.gaps.last, last.frame + last.frames == gap.frame {
      report.gaps[report.gaps.count - 1].frames += gap.frames
    } else {
      report.gaps.append(gap)
    }
  }

  /// Does what was wanted at the frame that is settled next.
  private mutating func obey() {
    while let due = points.take(upTo: settled) {
      switch due.point {
      case .wish(.split): series.split()
      case .wish(.mark(let label)):
        let marker = RecordedMarker(frame: series.frames, label: label)
        series.mark(label)
        report.markers.append(marker)
        news.tell(.marker(marker))
      case .wish(.start): break
      // What was lost before the take went on is no part of it.
      case .gap(let frames) where due.frame == settled: series.mark("\(frames) frames lost")
      case .gap: break
      }
    }
  }

  func time(of frame: Int) -> UInt64 {
    let rate = plan.sampleRate
    let nanoseconds = frame / rate * 1_000_000_000 + frame % rate * 1_000_000_000 / rate
    return wall.time(at: origin + nanoseconds)
  }
}
