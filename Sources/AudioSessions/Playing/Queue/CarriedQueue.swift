import AudioFiles

/// The part of a queue that goes on in another queue, for a unit of another rate.
struct CarriedQueue {
  /// What is heard next, where it was begun already.
  var resumption: QueueResumption?
  /// What was opened or read ahead of its turn, by its place in the list.
  var decoders: [QueuePosition: [any SoundDecoder]] = [:]

  /// Lets reads wait again that the end of a session has interrupted.
  func proceed() {
    for decoder in decoders.values.joined() { decoder.proceed() }
    for decoder in resumption?.decoders ?? [] { decoder.proceed() }
  }
}

/// A source that was heard in part, and is to go on.
struct QueueResumption {
  /// Its turn, of which nothing has been delivered yet.
  let span: TrackSpan
  /// The boundary of the (first) file with which it goes on.
  let boundary: Double
  /// What it reads; nil where it is opened again.
  var decoders: [any SoundDecoder]?
  /// Which of its parts is heard, where it is one.
  var chosen: Int?

  /// What comes of `span` from the queue's frame `frame` on, as the turn `number`.
  init(_ span: TrackSpan, at frame: Int, number: Int, rateFactor: Double) {
    let frames = max(0, min(frame, span.endFrame) - span.startFrame)
    let old = span.positions
    let track = span.track
    boundary = old.boundary(after: frames)
    var settings = span.settings
    settings.range = old.range(after: frames)
    self.span = TrackSpan(
      track: PlayerTrack(
        number: number, place: track.place, info: track.info, decoderIDs: track.decoderIDs),
      item: span.item, startFrame: 0, frames: 0,
      positions: PositionMap(
        path: old.path, firstIndex: old.firstIndex + Double(frames) * old.ratio,
        ratio: old.ratio * rateFactor),
      settings: settings)
  }

  /// Where in their sources `decoders` go on, in seconds: all in step with the one that can only go
  /// on where it stands, where there is one. Nil where all can be sought, which they are once they
  /// are open.
  private func seconds(of decoders: [any SoundDecoder]) -> Double? {
    guard !decoders.allSatisfy(\.supportsSeeking) else { return nil }
    if let fixed = decoders.first(where: { !$0.canBegin }) {
      return Double(fixed.position) / Double(fixed.sampleRate)
    }
    return decoders.first.map { boundary / Double($0.sampleRate) }
  }

  /// The item as it is opened now.
  var item: QueueItem {
    let item = span.item
    var parts = item.parts
    if let decoders, decoders.count == parts.count {
      let seconds = seconds(of: decoders)
      for (index, decoder) in decoders.enumerated() {
        if let seconds {
          parts[index].goOn(
            with: decoder, at: seconds * Double(decoder.sampleRate),
            settings: parts.count == 1 ? span.settings : nil)
        } else {
          parts[index].goOn(with: decoder)
        }
      }
    }
    return QueueItem(parts, mixMode: chosen.map { .alternatives($0) } ?? item.mixMode)
  }
}

extension PlayedSpans {
  /// What goes on where nothing is heard before the queue's frame `frame`; nil where all that was
  /// begun is over by then.
  func resumed(at frame: Int) -> TrackSpan? {
    spans.first { span in
      // What was cut off is not wanted any more.
      if span.isClosed { return span.isComplete && frame < span.endFrame }
      return !span.positions.isOver(after: max(0, frame - span.startFrame))
    }
  }
}

extension PositionMap {
  /// Whether less than half a frame of the file is left after `frames` frames of the unit.
  func isOver(after frames: Int) -> Bool {
    path.frameCount.map { firstIndex + Double(frames) * ratio > Double($0) - 0.5 } ?? false
  }
}
