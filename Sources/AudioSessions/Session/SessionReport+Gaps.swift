import AudioDevices
import RealtimeAudio

extension SessionReport {
  /// What was lost, in frames of the timeline.
  public var gaps: [RecordingGap] {
    events.compactMap { event in
      switch event.kind {
      case .secondaryOutputLost, .secondaryOutputReturned: nil
      default: event.frames > 0 ? RecordingGap(frame: event.frame, frames: event.frames) : nil
      }
    }
  }

  /// What of a recording was lost, in its frames: the recorder's own gaps, and frames that came to
  /// it as silence, because one of two devices was away or was late and the other went on. A sum of
  /// recordings has no segments, which tell where it lies on the timeline: of it the recorder's own
  /// gaps are known alone.
  ///
  /// ```swift
  /// var recorded = RecordingReport()
  /// recorded.gaps = [RecordingGap(frame: 4800, frames: 480)]
  /// precondition(SessionReport().gaps(in: recorded) == recorded.gaps)
  /// ```
  public func gaps(in recorded: RecordingReport) -> [RecordingGap] {
    let silences = events.flatMap { event -> [RecordingGap] in
      switch event.kind {
      case .captureXrun, .captureReturned, .captureAbsent:
        recorded.kept(of: event.frame..<event.frame + event.frames)
      default: []
      }
    }
    let all = (recorded.gaps + silences).sorted { $0.frame < $1.frame }
    return all.reduce(into: []) { merged, gap in
      guard let last = merged.last, gap.frame <= last.frame + last.frames else {
        merged.append(gap)
        return
      }
      let end = max(last.frame + last.frames, gap.frame + gap.frames)
      merged[merged.count - 1].frames = end - last.frame
    }
  }
}

extension RecordingReport {
  /// Where the frames of `range`, a range of the timeline, lie in the recording: those that were
  /// kept.
  fileprivate func kept(of range: Range<Int>) -> [RecordingGap] {
    pieces.compactMap { piece in
      let kept = range.clamped(to: piece.timeline)
      guard !kept.isEmpty else { return nil }
      return RecordingGap(
        frame: piece.frame + kept.lowerBound - piece.timeline.lowerBound, frames: kept.count)
    }
  }

  /// The ranges of the timeline that were kept, and where each begins in the recording.
  private var pieces: [(timeline: Range<Int>, frame: Int)] {
    var found: [(timeline: Range<Int>, frame: Int)] = []
    for segment in segments where segment.frames > 0 {
      var (place, frame) = (segment.timelineFrame, segment.frame)
      let end = segment.frame + segment.frames
      for pause in pauses where (frame...end).contains(pause.frame) {
        guard pause.timelineFrame + pause.frames > place else { continue }
        found.append((place..<place + pause.frame - frame, frame))
        (place, frame) = (pause.timelineFrame + pause.frames, pause.frame)
      }
      found.append((place..<place + end - frame, frame))
    }
    return found
  }
}
