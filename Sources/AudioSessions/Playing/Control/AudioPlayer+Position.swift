import AudioFiles

/// The playback position of a player, seeking, and the direction, region and speed of the current
/// track.
extension AudioPlayer {
  /// The track that is playing: its number, its place in the queue, and the known properties of the
  /// source.
  public var current: PlayerTrack? { heard?.span.track }

  /// The track that is playing, the position in it and its length, in one consistent reading; nil
  /// if nothing is playing.
  public var positionAndTime: PlaybackPosition? {
    heard.map { span, frame in span.position(at: frame) }
  }

  /// The frame of the source that is played next, at the source's own rate; nil if nothing is
  /// playing.
  public var position: Int? { positionAndTime?.frame }

  /// The position and the length of the source in seconds; nil if nothing is playing. The length is
  /// nil if it is unknown.
  public var time: (current: Double, total: Double?)? {
    positionAndTime.map { ($0.seconds, $0.totalSeconds) }
  }

  /// The index in the queue and the name of the item that is being opened while no track plays; nil
  /// while a track plays, and at the end of the queue.
  public var opening: (index: Int, name: String)? {
    guard connection?.queue.published.withLock({ $0.spans.isEmpty }) ?? true else { return nil }
    return list.withLock { $0.nextEntry }.map { ($0.position.index, $0.item.name) }
  }

  /// The title that the radio station announces for what is played, or the name of the station; nil
  /// if it announces neither.
  public var announcedTitle: String? {
    guard let connection else { return nil }
    let frame = connection.playedFrame
    return connection.queue.published.withLock { $0.title(at: frame) }
  }

  /// The bit rate of the current source in bits per second; nil if it is unknown.
  public var bitRate: Int? { heard?.span.track.info.bitRate }

  /// The playback settings of the current track; nil if nothing is playing.
  public var settings: TrackSettings? { heard?.span.settings }

  /// Whether the current source supports seeking, looping and reverse playback.
  public var supportsSeeking: Bool { heard?.span.track.info.supportsSeeking ?? false }

  /// The span that is playing, and the next frame of the ring buffer.
  private var heard: (span: TrackSpan, frame: Int)? {
    guard let connection else { return nil }
    let frame = connection.playedFrame
    return connection.queue.published.withLock { $0.span(at: frame) }.map { ($0, frame) }
  }

  /// Moves to a frame of the current source, at the source's own rate. Its end, `frameCount`, is
  /// allowed: there the next pass of a loop begins, or else the track ends; in reverse, the
  /// playback begins there. A frame outside of the region that is played is its beginning.
  ///
  /// Throws a `SeekFailure`, without any change, if nothing is playing, if the source cannot seek,
  /// or if there is no such frame. If the source cannot seek, the event `.refused` is sent as well.
  /// The properties of a source that is not open yet are unknown: if it cannot seek, or has no such
  /// frame, only this event reports it, and the source is played from where it was. A negative
  /// frame always throws. This applies to all seeks.
  public func seek(toFrame frame: Int) throws(SeekFailure) {
    guard frame >= 0 else { throw .outOfRange(frameCount: heardFrameCount) }
    try checkSeek { info in frame <= info.frameCount ?? .max }
    change { settings, position, source throws(FileFailure) in
      try source.seek(toFrame: Double(frame), &settings, &position)
    }
  }

  /// Moves to a time of the current source, to the nearest frame. Throws as `seek(toFrame:)` does.
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
    change { settings, position, source throws(FileFailure) in
      let frame = (seconds * Double(source.decoders.first?.sampleRate ?? 0)).rounded()
      try source.seek(toFrame: frame, &settings, &position)
    }
  }

  /// Moves to a fraction, from 0 to below 1, of the current source. Throws as `seek(toFrame:)`
  /// does, and if the length is unknown.
  public func seek(toFraction fraction: Double) throws(SeekFailure) {
    guard 0..<1 ~= fraction else { throw .outOfRange(frameCount: heardFrameCount) }
    if let info = current?.info, info.frameCount == nil { throw .unknownLength }
    try checkSeek { _ in true }
    change { settings, position, source throws(FileFailure) in
      guard let count = source.decoders.first?.frameCount else {
        throw FileFailure(SeekFailure.unknownLength)
      }
      let frame = (fraction * Double(count)).rounded(.down)
      try source.seek(toFrame: frame, &settings, &position)
    }
  }

  /// Moves forward by `seconds`, or back if the number is negative, within the region that is
  /// played: at its ends it stops at the first or the last frame. Throws as `seek(toFrame:)` does,
  /// except at the ends.
  public func seek(bySeconds seconds: Double) throws(SeekFailure) {
    guard seconds.isFinite else { throw .outOfRange(frameCount: heardFrameCount) }
    try checkSeek { _ in true }
    change { settings, position, source in
      let decoder = source.decoders.first
      position = (position + seconds * Double(decoder?.sampleRate ?? 0)).rounded()
      let isReversed = settings.range.isReversed
      let path = PlayPath(
        settings.range, frameCount: decoder?.knownEnd(isReversed: isReversed))
      let end = path.end ?? PlayPath.maximumFrames
      // At an end the last frame is still played, so that the position is not the beginning of the
      // next pass.
      let first = path.range.isReversed ? path.start + 1 : path.start
      let last = path.range.isReversed ? end : end - 1
      position = max(Double(first), min(position, Double(max(first, last))))
      settings.range.times = settings.range.times.map { max(1, $0) }
    }
  }

  private var heardFrameCount: Int? { current?.info.frameCount }

  /// Throws the reason for which the current source, as far as it is known, cannot seek to the
  /// position that `isThere` checks.
  private func checkSeek(_ isThere: (StreamInfo) -> Bool) throws(SeekFailure) {
    guard let info = current?.info else {
      guard list.withLock({ $0.hasNext }) else { throw .nothingPlaying }
      return
    }
    guard info.supportsSeeking else {
      let failure = SeekFailure.notSeekable(name: info.name)
      // Event handlers receive this failure like every other request that a source does not
      // support.
      connection?.queue.published.withLock {
        $0.refusals.append(
          FileFailure(.unusableContents, failure.message, hint: failure.hint))
      }
      throw failure
    }
    guard isThere(info) else { throw .outOfRange(frameCount: info.frameCount) }
  }

  /// Plays the current track backwards from the current position, or forwards.
  public func setReversed(_ isReversed: Bool) {
    change { settings, _, _ in settings.range.isReversed = isReversed }
  }

  /// Reverses the direction of the current track.
  public func toggleReversed() {
    change { settings, _, _ in settings.range.isReversed.toggle() }
  }

  /// Plays the frames `region` of the source, nil for all, `times` times, nil to repeat forever:
  /// from the current position to their end, and then from their beginning. Frames outside of the
  /// source are left out; an empty region, or `times` below 1, ends the track.
  public func setRegion(_ region: Range<Int>?, times: Int?) {
    change { settings, _, _ in
      settings.range = PlaybackRange(
        startFrame: region?.lowerBound ?? 0, endFrame: region?.upperBound, times: times,
        isReversed: settings.range.isReversed)
    }
  }

  /// Sets the playback speed as a factor of 0.25 to 4, which changes the pitch as well. A value
  /// beyond the limits counts as the nearest limit, and a value that is not finite changes nothing.
  public func setSpeed(_ speed: Double) {
    let speeds = TrackSettings.speeds
    guard speed.isFinite else { return }
    let speed = min(max(speed, speeds.lowerBound), speeds.upperBound)
    change { settings, _, _ in settings.speed = speed }
  }

  /// Plays another alternative of the item: at once, or when the first one reaches `frame`.
  public func choose(_ index: Int, atFrame frame: Int? = nil) {
    change { _, _, source in
      guard let group = source as? TrackGroup else { return }
      group.choose(index, atBoundary: frame)
    }
  }

  /// Changes the playback of the current track as soon as possible.
  private func change(_ edit: @escaping PlayerChange.Edit) {
    request(.edit(edit, interrupts: supportsSeeking))
  }
}

extension QueueSource {
  /// Moves `position` to the boundary `frame` of the (first) file, which is not negative. At the
  /// end of the file the current pass is over, and with the last pass the track. Throws
  /// `.invalidRequest`, without any change, if there is no such boundary.
  fileprivate func seek(
    toFrame frame: Double, _ settings: inout TrackSettings, _ position: inout Double
  ) throws(FileFailure) {
    let frameCount = info?.frameCount
    if let frameCount, frame > Double(frameCount) {
      throw FileFailure(SeekFailure.outOfRange(frameCount: frameCount))
    }
    position = frame
    let end = settings.range.isReversed ? nil : decoders.first?.knownEnd(isReversed: false)
    let isOver = end.map { frame >= Double($0) } ?? false
    // An earlier seek of the same moment may have ended the track.
    settings.range.times = settings.range.times.map { max(1, $0) - (isOver ? 1 : 0) }
  }
}

extension FileFailure {
  /// Returns the reason for which an open source does not execute a seek.
  fileprivate init(_ failure: SeekFailure) {
    self.init(.invalidRequest, failure.message, hint: failure.hint)
  }
}

extension AudioPlayer {
  /// Returns whether audio in the format `format` can be played: the extension of a name (`flac`)
  /// or a MIME type (`audio/flac`).
  public static func supports(format: String) -> Bool { Decoding.supports(format: format) }
}

/// The reason why a player did not seek.
public enum SeekFailure: ExplainedFailure, Sendable, Equatable {
  /// Nothing is playing, and nothing waits to be played.
  case nothingPlaying
  /// The current source cannot seek.
  case notSeekable(name: String)
  /// There is no such position; the source has `frameCount` frames, nil if that is unknown.
  case outOfRange(frameCount: Int?)
  /// A fraction was requested of a source of unknown length.
  case unknownLength

  /// The description of the failure, in one sentence.
  public var message: String {
    switch self {
    case .nothingPlaying: "Nothing is playing."
    case .notSeekable(let name): "\(name) can only be played from its beginning to its end."
    case .outOfRange(let count):
      count.map { "There is no such place: the source has \($0.counted("frame"))." }
        ?? "There is no such place."
    case .unknownLength: "The source does not say how long it is."
    }
  }

  /// The recommended action, in one sentence.
  public var hint: String {
    switch self {
    case .nothingPlaying: "Enqueue a source first."
    case .notSeekable: "Save it to a file first, or convert a file to uncompressed WAV."
    case .outOfRange: "Ask for a position from 0 to its length, or for a fraction below 1."
    case .unknownLength: "Ask for a frame or a time instead."
    }
  }
}
