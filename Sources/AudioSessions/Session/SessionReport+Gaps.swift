import AudioBasics
import AudioDevices
import RealtimeAudio

extension SessionReport {
  /// The lost parts in frames of the timeline.
  public var gaps: [RecordingGap] {
    events.filter { $0.frames > 0 }.map { RecordingGap(frame: $0.frame, frames: $0.frames) }
  }

  /// Returns the lost parts of a recording, in its frames: the recorder's own gaps, and frames that
  /// were recorded as silence because one of two devices was away or late while the other one
  /// continued. A sum of recordings has no segments, which give its position on the timeline; for
  /// such a sum only the recorder's own gaps are returned.
  ///
  /// ```swift
  /// var recorded = RecordingReport()
  /// recorded.gaps = [RecordingGap(frame: 4800, frames: 480)]
  /// precondition(SessionReport().gaps(in: recorded) == recorded.gaps)
  /// ```
  public func gaps(in recorded: RecordingReport) -> [RecordingGap] {
    let silences = missingInput.flatMap { recorded.kept(of: $0) }
    // A program may have set the frames of a report to any number.
    let all = (recorded.gaps + silences).filter { $0.frame >= 0 && $0.frames > 0 }
      .sorted { $0.frame < $1.frame }
    return all.reduce(into: []) { merged, gap in
      guard let last = merged.last, gap.frame <= last.frame.clampedSum(last.frames) else {
        merged.append(gap)
        return
      }
      let end = max(last.frame.clampedSum(last.frames), gap.frame.clampedSum(gap.frames))
      merged[merged.count - 1].frames = end - last.frame
    }
  }
}

extension SessionReport {
  /// Returns the number of captured frames that are missing in a recording of the whole session:
  /// those that the session lost, those that did not fit into the recording's ring, those in lost
  /// files, and, if the recording failed, those after its last frame.
  ///
  /// ```swift
  /// var recorded = RecordingReport()
  /// recorded.overflowFrames = 480
  /// var report = SessionReport()
  /// report.lostFrames = 100
  /// precondition(report.lostFrames(in: recorded) == 580)
  /// ```
  public func lostFrames(in recorded: RecordingReport) -> Int {
    let lost = lostFrames.clampedSum(recorded.overflowFrames).clampedSum(recorded.lostFrames)
    return recorded.failure == nil ? lost : lost.clampedSum(framesLost(after: recorded))
  }

  /// Returns the number of captured frames after the last one that `recorded` kept, which the
  /// failure of its disk lost. Frames that the device lost are in `lostFrames` already.
  package func framesLost(after recorded: RecordingReport) -> Int {
    let rest = min(frames, recorded.timelineEnd)..<frames
    let missing = missingInput.reduce(0) { $0 + $1.clamped(to: rest).count }
    return max(0, rest.count - missing)
  }

  /// The parts of the timeline for which the device captured nothing.
  private var missingInput: [Range<Int>] {
    events.compactMap { event in
      switch event.kind {
      case .captureXrun, .captureReturned, .captureAbsent:
        event.frame..<event.frame.clampedSum(max(0, event.frames))
      default: nil
      }
    }
  }
}

extension RecordingReport {
  /// The frame of the timeline after the last one that was kept.
  fileprivate var timelineEnd: Int { pieces.last?.timeline.upperBound ?? frames }

  /// Returns the positions in the recording of the kept frames of `range`, a range of the timeline.
  fileprivate func kept(of range: Range<Int>) -> [RecordingGap] {
    pieces.compactMap { piece in
      let kept = range.clamped(to: piece.timeline)
      guard !kept.isEmpty else { return nil }
      return RecordingGap(
        frame: piece.frame + kept.lowerBound - piece.timeline.lowerBound, frames: kept.count)
    }
  }

  /// The ranges of the timeline that were kept, and the frame of the recording at which each
  /// begins.
  private var pieces: [(timeline: Range<Int>, frame: Int)] {
    var found: [(timeline: Range<Int>, frame: Int)] = []
    for segment in segments where segment.frames > 0 && segment.frame >= 0 {
      var (place, frame) = (segment.timelineFrame, segment.frame)
      let end = segment.frame.clampedSum(segment.frames)
      for pause in pauses where (frame...end).contains(pause.frame) {
        let next = pause.timelineFrame.clampedSum(pause.frames)
        guard next > place else { continue }
        found.append((place..<place.clampedSum(pause.frame - frame), frame))
        (place, frame) = (next, pause.frame)
      }
      found.append((place..<place.clampedSum(end - frame), frame))
    }
    return found
  }
}
