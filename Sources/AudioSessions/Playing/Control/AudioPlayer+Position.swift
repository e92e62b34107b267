import AudioFiles

/// The playback position of a player, seeking, and the direction, region and speed of what plays.
extension AudioPlayer {
  /// What is heard now: its number, its place in the queue, and what is known of the source.
  public var current: PlayerTrack? { heard?.span.track }

  /// What is heard, where in it, and how much of it there is, in one reading; nil where nothing is
  /// heard.
  public var positionAndTime: PlaybackPosition? {
    heard.map { span, frame in span.position(at: frame) }
  }

  /// The frame of the source that is heard next, at the source's own rate; nil where nothing is.
  public var position: Int? { positionAndTime?.frame }

  /// The same in seconds, and how long the source is; nil where that is not known.
  public var time: (current: Double, total: Double?)? {
    positionAndTime.map { ($0.seconds, $0.totalSeconds) }
  }

  /// The index in the queue and the name of the item that is being opened while no track plays; nil
  /// while a track plays, and at the end of the queue.
  public var opening: (index: Int, name: String)? {
    guard connection?.queue.published.withLock({ $0.spans.isEmpty }) ?? true else { return nil }
    return list.withLock { $0.coming }.map { ($0.place.index, $0.item.name) }
  }

  /// The title that the radio station announces, or its name; nil if it announces neither.
  public var announcedTitle: String? {
    connection?.queue.published.withLock { $0.announcedTitle }
  }

  /// Bits a second of what is heard; nil where that is not known.
  public var bitRate: Int? { heard?.span.track.info.bitRate }

  /// How what is heard is played; nil where nothing is.
  public var settings: TrackSettings? { heard?.span.settings }

  /// Whether what is heard can be sought, looped and played backwards.
  public var supportsSeeking: Bool { heard?.span.track.info.supportsSeeking ?? false }

  /// What is heard, and the frame of the ring that comes next.
  private var heard: (span: TrackSpan, frame: Int)? {
    guard let connection else { return nil }
    let frame = connection.playedFrame
    return connection.queue.published.withLock { $0.span(at: frame) }.map { ($0, frame) }
  }

  /// Goes to a frame of what is heard, at the source's own rate; its end is allowed.
  ///
  /// Throws a `SeekFailure`, and nothing changes, where nothing plays, it cannot be sought, or
  /// there is no such frame. That it cannot be sought is told as `.refused` as well. Of a source
  /// that was not opened yet nothing is known: what it cannot do is told as `.refused` then. This
  /// holds for all seeks.
  public func seek(toFrame frame: Int) throws(SeekFailure) {
    try checkSeek { info in 0...(info.frameCount ?? .max) ~= frame }
    change { _, place, _ in place = Double(frame) }
  }

  /// Goes to a time of what is heard, to the nearest frame. Throws as `seek(toFrame:)` does.
  ///
  /// ```swift
  /// let player = AudioPlayer()
  /// do throws(SeekFailure) {
  ///   try player.seek(toSeconds: 90)
  /// } catch {
  ///   precondition(error == .nothingPlaying)
  ///   print(error.message)
  /// }
  /// ```
  public func seek(toSeconds seconds: Double) throws(SeekFailure) {
    guard seconds.isFinite, seconds >= 0 else { throw .outOfRange(frameCount: heardFrameCount) }
    try checkSeek { info in
      let frame = (seconds * Double(info.sampleRate)).rounded()
      return info.frameCount.map { frame <= Double($0) } ?? true
    }
    change { _, place, source in
      place = (seconds * Double(source.decoders.first?.sampleRate ?? 0)).rounded()
    }
  }

  /// Goes to a fraction, from 0 to below 1, of what is heard. Throws as `seek(toFrame:)` does, and
  /// where its length is not known.
  public func seek(toFraction fraction: Double) throws(SeekFailure) {
    guard 0..<1 ~= fraction else { throw .outOfRange(frameCount: heardFrameCount) }
    if let info = current?.info, info.frameCount == nil { throw .unknownLength }
    try checkSeek { _ in true }
    change { _, place, source in
      guard let count = source.decoders.first?.frameCount else { return }
      place = (fraction * Double(count)).rounded(.down)
    }
  }

  /// Goes forward by `seconds`, or back where that is below 0; not beyond the region that is
  /// played: there it stops at the first or the last frame. Throws as `seek(toFrame:)` does, but
  /// for the ends.
  public func seek(bySeconds seconds: Double) throws(SeekFailure) {
    guard seconds.isFinite else { throw .outOfRange(frameCount: heardFrameCount) }
    try checkSeek { _ in true }
    change { settings, place, source in
      let decoder = source.decoders.first
      place = (place + seconds * Double(decoder?.sampleRate ?? 0)).rounded()
      let isReversed = settings.range.isReversed
      let path = PlayPath(
        settings.range, frameCount: decoder?.knownEnd(isReversed: isReversed))
      let end = path.end ?? PlayPath.mostFrames
      // At an end the last frame is still heard, so that it is not the beginning.
      let first = path.range.isReversed ? path.start + 1 : path.start
      let last = path.range.isReversed ? end : end - 1
      place = max(Double(first), min(place, Double(max(first, last))))
    }
  }

  private var heardFrameCount: Int? { current?.info.frameCount }

  /// Throws why what is heard, as far as that is known, cannot go where `isThere` is asked about.
  private func checkSeek(_ isThere: (StreamInfo) -> Bool) throws(SeekFailure) {
    guard let info = current?.info else {
      guard list.withLock({ $0.hasNext }) else { throw .nothingPlaying }
      return
    }
    guard info.supportsSeeking else {
      let failure = SeekFailure.notSeekable(name: info.name)
      // Who follows the events is told as of all else that a source cannot do.
      connection?.queue.published.withLock {
        $0.refusals.append(
          FileFailure(.unusableContents, failure.message, hint: "Save it to a file first."))
      }
      throw failure
    }
    guard isThere(info) else { throw .outOfRange(frameCount: info.frameCount) }
  }

  /// Plays it from here on backwards, or forwards.
  public func setReversed(_ isReversed: Bool) {
    change { settings, _, _ in settings.range.isReversed = isReversed }
  }

  /// Plays what is heard backwards instead of forwards, and the other way round.
  public func toggleReversed() {
    change { settings, _, _ in settings.range.isReversed.toggle() }
  }

  /// Plays the frames `region` of the source, nil for all, `times` times, nil for ever: from here
  /// on to their end, and then from their beginning. What lies outside of the source is left out;
  /// an empty region, or `times` below 1, ends the track.
  public func setRegion(_ region: Range<Int>?, times: Int?) {
    change { settings, _, _ in
      settings.range = PlaybackRange(
        startFrame: region?.lowerBound ?? 0, endFrame: region?.upperBound, times: times,
        isReversed: settings.range.isReversed)
    }
  }

  /// Plays faster or slower, and higher or lower by as much: 0.25 to 4; what is below or above is
  /// taken as that, and what is no number changes nothing.
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
  /// Whether sound can be played that is called `format`: the ending of a name (`flac`) or a MIME
  /// type (`audio/flac`).
  public static func supports(format: String) -> Bool { Decoding.supports(format: format) }
}

/// The reason why a player did not seek.
public enum SeekFailure: ExplainedFailure, Sendable, Equatable {
  /// Nothing plays, and nothing waits to be played.
  case nothingPlaying
  /// What plays cannot be sought.
  case notSeekable(name: String)
  /// There is no such place; the source has `frameCount` frames, where that is known.
  case outOfRange(frameCount: Int?)
  /// A fraction of what does not say how long it is.
  case unknownLength

  /// One sentence that says it.
  public var message: String {
    switch self {
    case .nothingPlaying: "Nothing is playing."
    case .notSeekable(let name): "\(name) can only be played from its beginning to its end."
    case .outOfRange(let count):
      count.map { "There is no such place: the source has \($0) frames." }
        ?? "There is no such place."
    case .unknownLength: "The source does not say how long it is."
    }
  }

  /// One sentence that says what to do.
  public var hint: String {
    switch self {
    case .nothingPlaying: "Enqueue a source first."
    case .notSeekable: "Save it to a file first."
    case .outOfRange: "Ask for a position from 0 on that is below its length."
    case .unknownLength: "Ask for a frame or a time instead."
    }
  }
}
