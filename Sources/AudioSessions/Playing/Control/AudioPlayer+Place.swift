import AudioFiles

/// Where it plays, and where it is to go on.
extension AudioPlayer {
  /// What is heard now.
  public var current: PlayerTrack? { heard?.span.track }

  /// The frame of the source that is heard next, at the source's own rate; nil where nothing is.
  public var position: Int? {
    heard.map { span, frame in
      Int(
        clamping: span.positions.boundary(
          after: max(0, min(frame, span.endFrame) - span.startFrame)))
    }
  }

  /// The same in seconds, and how long the source is; nil where that is not known.
  public var time: (current: Double, total: Double?)? {
    guard let span = heard?.span, let position else { return nil }
    return (Double(position) / Double(span.track.facts.sampleRate), span.track.facts.seconds)
  }

  /// Bits a second of what is heard; nil where that is not known.
  public var bitRate: Int? { heard?.span.track.facts.bitRate }

  /// How what is heard is played; nil where nothing is.
  public var settings: TrackSettings? { heard?.span.settings }

  /// Whether what is heard can be sought, looped and played backwards.
  public var supportsSeeking: Bool { heard?.span.track.facts.supportsSeeking ?? false }

  /// What is heard, and the frame of the ring that comes next.
  private var heard: (span: TrackSpan, frame: Int)? {
    guard let connection else { return nil }
    let frame = connection.playedFrame
    return connection.queue.published.withLock { $0.span(at: frame) }.map { ($0, frame) }
  }

  /// Goes to a frame of what is heard, at the source's own rate.
  public func seek(toFrame frame: Int) {
    change { _, place, _ in place = Double(frame) }
  }

  /// Goes to a time of what is heard.
  public func seek(toSeconds seconds: Double) {
    change { _, place, source in
      place = (seconds * Double(source.decoders.first?.sampleRate ?? 0)).rounded()
    }
  }

  /// Goes to a fraction, from 0 to below 1, of what is heard, if its length is known.
  public func seek(toFraction fraction: Double) {
    change { _, place, source in
      guard let count = source.decoders.first?.frameCount else { return }
      place = (min(max(0, fraction), 1) * Double(count)).rounded(.down)
    }
  }

  /// Goes forward by `seconds`, or back where that is below 0; not beyond the region that is
  /// played.
  public func seek(bySeconds seconds: Double) {
    change { settings, place, source in
      let decoder = source.decoders.first
      place = (place + seconds * Double(decoder?.sampleRate ?? 0)).rounded()
      let order = settings.order
      let end = [order.endFrame, decoder?.frameCount].compactMap { $0 }.min() ?? .max
      // At an end the last frame is still heard, so that it is not the beginning.
      let first = order.isReversed ? order.startFrame + 1 : order.startFrame
      let last = order.isReversed ? end : end - 1
      place = max(Double(first), min(place, Double(max(first, last))))
    }
  }

  /// Plays it from here on backwards, or forwards.
  public func setReversed(_ isReversed: Bool) {
    change { settings, _, _ in settings.order.isReversed = isReversed }
  }

  /// Plays what is heard backwards instead of forwards, and the other way round.
  public func toggleReversed() {
    change { settings, _, _ in settings.order.isReversed.toggle() }
  }

  /// Plays the frames `region` of the source, nil for all, `times` times, nil for ever: from here on
  /// to their end, and then from their beginning.
  public func setRegion(_ region: Range<Int>?, times: Int?) {
    change { settings, _, _ in
      settings.order = PlaybackRange(
        startFrame: region?.lowerBound ?? 0, endFrame: region?.upperBound, times: times,
        isReversed: settings.order.isReversed)
    }
  }

  /// Plays faster or slower, and higher or lower by as much: 0.25 to 4.
  public func setSpeed(_ speed: Double) {
    let speeds = TrackSettings.speeds
    guard speed.isFinite else { return }
    let speed = min(max(speed, speeds.lowerBound), speeds.upperBound)
    change { settings, _, _ in settings.speed = speed }
  }

  /// Lets another of an item's alternatives be heard: at once, or where the first one's `frame` is
  /// come to.
  public func choose(_ index: Int, atFrame frame: Int? = nil) {
    change { _, _, source in
      guard let group = source as? TrackGroup else { return }
      group.choose(index, atBoundary: frame)
    }
  }

  /// Has what is heard go on differently as soon as can be.
  private func change(
    _ edit: @escaping @Sendable (inout TrackSettings, inout Double, any QueueSource) -> Void
  ) {
    ask(interrupts: supportsSeeking, .edit(edit))
  }
}

extension AudioPlayer {
  /// Whether sound can be played that is called `format`: the ending of a name (`flac`) or a MIME type
  /// (`audio/flac`).
  public static func supports(format: String) -> Bool { Decoding.supports(format: format) }
}
