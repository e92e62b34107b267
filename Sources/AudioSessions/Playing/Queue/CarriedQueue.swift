import AudioFiles

/// The part of a queue that continues in another queue, for a unit of another rate.
struct CarriedQueue {
  /// The source that is played next, if it was already begun.
  var resumption: QueueResumption?
  /// The decoders that were opened or read ahead of their turns, by their positions in the list.
  var decoders: [QueuePosition: [any SoundDecoder]] = [:]

  /// Allows reads to wait again after the end of a session has interrupted them.
  func proceed() {
    for decoder in decoders.values.joined() { decoder.proceed() }
    for decoder in resumption?.decoders ?? [] { decoder.proceed() }
  }
}

/// A source that was played in part and will continue.
struct QueueResumption {
  /// The span of its turn, of which no frames have been delivered yet.
  let span: TrackSpan
  /// The boundary of the (first) file at which it continues.
  let boundary: Double
  /// Whether it is being opened.
  var isOpening = false
  /// The decoders that it reads; nil if it is opened again.
  var decoders: [any SoundDecoder]?
  /// The index of the part that is played, if only one part is.
  var chosen: Int?

  /// Creates the continuation of `span` from the queue's frame `frame` on, as the turn `number`.
  init(_ span: TrackSpan, at frame: Int, number: Int, rateFactor: Double) {
    let frames = max(0, min(frame, span.endFrame) - span.startFrame)
    let old = span.positions
    let track = span.track
    boundary = old.boundary(after: frames)
    var settings = span.settings
    settings.range = old.range(after: frames)
    self.span = TrackSpan(
      track: PlayerTrack(
        number: number, position: track.position, info: track.info, decoderIDs: track.decoderIDs),
      item: span.item, startFrame: 0, frames: 0,
      positions: PositionMap(
        path: old.path, firstIndex: old.firstIndex + Double(frames) * old.ratio,
        ratio: old.ratio * rateFactor),
      settings: settings)
  }

  /// Returns the time in seconds at which `decoders` continue in their sources: all in step with
  /// the one that can only continue at its current position, if there is one. Nil if all can seek,
  /// which they do once they are open.
  private func seconds(of decoders: [any SoundDecoder]) -> Double? {
    guard !decoders.allSatisfy(\.supportsSeeking) else { return nil }
    if let fixed = decoders.first(where: { !$0.canBegin }) {
      return Double(fixed.position) / Double(fixed.sampleRate)
    }
    return decoders.first.map { boundary / Double($0.sampleRate) }
  }

  /// The item in the form in which it is opened now.
  var item: QueueItem {
    let item = span.item
    var parts = item.parts
    if let decoders, decoders.count == parts.count {
      let seconds = seconds(of: decoders)
      for (index, decoder) in decoders.enumerated() {
        if let seconds {
          parts[index].resume(
            with: decoder, at: seconds * Double(decoder.sampleRate),
            settings: parts.count == 1 ? span.settings : nil)
        } else {
          parts[index].resume(with: decoder)
        }
      }
    }
    return QueueItem(parts, mixMode: chosen.map { .alternatives($0) } ?? item.mixMode)
  }
}

extension PlayedSpans {
  /// Returns the span that continues if nothing is played before the queue's frame `frame`; nil if
  /// every begun span is over by then.
  func resumed(at frame: Int) -> TrackSpan? {
    spans.first { span in
      // A span that was cut off does not continue.
      if span.isClosed { return span.isComplete && frame < span.endFrame }
      return !span.positions.isOver(after: max(0, frame - span.startFrame))
    }
  }
}

extension PositionMap {
  /// Returns whether less than half a frame of the file is left after `frames` frames of the unit.
  func isOver(after frames: Int) -> Bool {
    path.frameCount.map { firstIndex + Double(frames) * ratio > Double($0) - 0.5 } ?? false
  }
}
