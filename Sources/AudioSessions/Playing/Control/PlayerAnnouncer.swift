import AudioBasics
import AudioFiles
import RealtimeAudio

/// The sender of the events of a player's turns: it compares the frames that the queue has
/// delivered with the frames that the audio thread has played, 50 times per second, on a separate
/// thread.
final class PlayerAnnouncer: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; a lock protects what others set.
  /// The events sent for one turn so far, and the part of it that was played.
  private final class TrackState {
    let track: PlayerTrack
    /// The part played in spans that were removed; nil until the turn is played.
    var played: PlayedTrack?
    /// The end of the last played frame of these spans: on the timeline, and the time.
    var heardEnd: (frame: Int, nanoseconds: UInt64)?
    var isDecoded = false
    var willStart = false
    /// The first frame of the span for which `endingSoon` was sent.
    var endingSoonSpan: Int?
    var hasFailed = false

    init(_ track: PlayerTrack) { self.track = track }
  }

  private let queue: PlayQueue
  private let listeners: PlayerListeners
  private let playedCount: PublishedValueView
  private let starvation: PublishedFlagView
  private let isPaused: PublishedFlagView
  private var marks: EventReader<PlayerMark>
  private var timeline: PlayerTimeline
  private var trackStates: [Int: TrackState] = [:]
  private var isStarved = false
  private var isAtEnd = true
  private var title: String?
  private let isConcluded = AtomicFlag()

  init(
    queue: PlayQueue, listeners: PlayerListeners, playedCount: consuming PublishedValueView,
    starvation: consuming PublishedFlagView, isPaused: consuming PublishedFlagView,
    marks: consuming EventReader<PlayerMark>, sampleRate: Int
  ) {
    self.queue = queue
    self.listeners = listeners
    self.playedCount = playedCount
    self.starvation = starvation
    self.isPaused = isPaused
    self.marks = marks
    timeline = PlayerTimeline(sampleRate: sampleRate)
  }

  func conclude() { isConcluded.raise() }

  func step() -> Bool {
    // The order matters: the last step then misses no event, and the marks cover all played frames.
    let isLast = isConcluded.isRaised
    let position = playedCount.value
    while let mark = marks.read() { timeline.add(mark) }
    timeline.playedCount = position
    let played = queue.published.withLock { played in
      played.forgetTitles(before: position)
      let copy = played
      played.canceled = []
      played.failures = []
      played.refusals = []
      return copy
    }
    timeline.jump = played.jump
    emitFailures(played)
    for refusal in played.refusals { emitForNewest(.refused(refusal)) }
    for span in played.spans { follow(span, position) }
    for span in played.canceled { cancel(span) }
    if let announced = played.title(at: position), announced != title {
      title = announced
      emitForNewest(.titled(announced))
    }
    closeSpans(played, position, isLast: isLast)
    // At the end of one source, the playback waits for the next.
    emitStarvation(isEmpty: position >= played.spans.last?.endFrame ?? 0 && !played.isOver)
    return !isLast
  }

  private func begin(_ span: TrackSpan) -> TrackState {
    let trackState = TrackState(span.track)
    trackStates[span.track.number] = trackState
    emit(.decodingStarted, trackState.track)
    return trackState
  }

  private func follow(_ span: TrackSpan, _ position: Int) {
    let trackState = trackStates[span.track.number] ?? begin(span)
    let track = trackState.track
    if span.isComplete, !trackState.isDecoded {
      trackState.isDecoded = true
      if !trackState.hasFailed { emit(.decodingComplete, track, before: span.endFrame) }
    }
    let rest = timeline.framesUntil(span.startFrame) ?? span.startFrame - position
    if !trackState.willStart, span.frames > 0, rest < timeline.sampleRate / 2, !isPaused.isSet {
      trackState.willStart = true
      emit(.renderingWillStart, track, at: span.startFrame)
    }
    if trackState.played == nil, let first = timeline.firstPlayed(of: span.range) {
      isAtEnd = false
      trackState.played = PlayedTrack(
        track: track, startFrame: timeline.position(of: first)?.frame ?? 0, frames: 0)
      emit(.renderingStarted, track, at: first)
    }
    let soon = listeners.endingSoonSeconds
    if soon > 0, trackState.endingSoonSpan != span.startFrame, !span.isClosed || span.isComplete,
      position > span.startFrame,
      let end = span.isClosed
        ? span.endFrame : span.positions.frameCount.map({ span.startFrame + $0 }),
      let rest = timeline.framesUntil(end) ?? (end <= position ? 0 : nil),
      Double(rest) <= soon * Double(timeline.sampleRate)
    {
      trackState.endingSoonSpan = span.startFrame
      emit(.endingSoon, track, before: end)
    }
  }

  /// Closes the spans whose frames were all played, and their turns if none of their spans are
  /// left.
  private func closeSpans(_ played: PlayedSpans, _ position: Int, isLast: Bool) {
    let spans = played.spans
    var gone = 0
    var heard = 0
    for span in spans {
      let isPlayed = span.isClosed && position >= span.endFrame
      guard isPlayed || isLast else { break }
      gone += 1
      if isPlayed, heard == gone - 1 { heard = gone }
      let playedFrames = timeline.playedFrames(of: span.range)
      if let trackState = trackStates[span.track.number], playedFrames > 0 {
        trackState.played?.frames += playedFrames
        trackState.heardEnd = timeline.end(before: min(span.endFrame, position))
      }
      guard !spans.dropFirst(gone).contains(where: { $0.track === span.track }) else { continue }
      end(span, position, isPlayed: isPlayed)
    }
    guard gone > 0 else { return }
    // Spans that were not played yet continue in another session.
    queue.published.withLock { $0.remove(spans.prefix(heard)) }
    if let first = spans.dropFirst(gone).first { timeline.forget(before: first.startFrame) }
    if gone == spans.count, played.isOver, !isAtEnd, let last = spans.last,
      last.isComplete || isLast
    {
      isAtEnd = true
      if last.isComplete, position >= last.endFrame {
        emit(.endOfAudio, last.track, before: last.endFrame)
      }
    }
  }

  private func end(_ span: TrackSpan, _ position: Int, isPlayed: Bool) {
    guard let trackState = trackStates.removeValue(forKey: span.track.number) else { return }
    if let played = trackState.played { listeners.note(played) }
    guard !trackState.hasFailed else { return }
    // A track that was stopped early ends at the last frame that was played.
    let heardEnd = min(span.endFrame, position)
    emit(
      isPlayed && span.isComplete ? .renderingComplete : .decodingCanceled, trackState.track,
      heardEnd > span.startFrame ? timeline.end(before: heardEnd) : nil,
      playedFrames: trackState.played?.frames ?? 0)
  }

  /// Cancels a turn of which no frames of `span` were played, though frames of removed spans may
  /// have been.
  private func cancel(_ span: TrackSpan) {
    let trackState = trackStates.removeValue(forKey: span.track.number)
    if trackState == nil { emit(.decodingStarted, span.track) }
    if let played = trackState?.played { listeners.note(played) }
    guard trackState?.hasFailed != true else { return }
    emit(
      .decodingCanceled, span.track, trackState?.heardEnd,
      playedFrames: trackState?.played?.frames ?? 0)
  }

  private func emitFailures(_ played: PlayedSpans) {
    for failure in played.failures {
      // The start of a turn is reported before its failure.
      let trackState = failure.track.flatMap { number in
        trackStates[number] ?? played.spans.first { $0.track.number == number }.map(begin)
      }
      trackState?.hasFailed = true
      listeners.events.send(
        PlayerEvent(
          kind: .failed(failure.failure), track: trackState?.track, index: failure.index,
          source: failure.name))
    }
  }

  private func emitStarvation(isEmpty: Bool) {
    let isDry = starvation.isSet && !isPaused.isSet
    let now = isDry && (isEmpty || isStarved)
    guard now != isStarved else { return }
    isStarved = now
    emitForNewest(now ? .waiting : .resumed)
  }

  private func emitForNewest(_ kind: PlayerEvent.Kind) {
    let last = trackStates.values.max { $0.track.number < $1.track.number }?.track
    let nextEntry = last == nil ? queue.list.withLock { $0.nextEntry } : nil
    listeners.events.send(
      PlayerEvent(
        kind: kind, track: last, index: last?.index ?? nextEntry?.position.index ?? 0,
        source: last?.info.name ?? nextEntry?.item.name ?? ""))
  }

  /// Sends an event at the time at which the ring buffer's frame `ringFrame` is played.
  private func emit(_ kind: PlayerEvent.Kind, _ track: PlayerTrack, at ringFrame: Int) {
    emit(kind, track, timeline.position(of: ringFrame))
  }

  /// Sends an event at the end of the last frame before `ringFrame`.
  private func emit(_ kind: PlayerEvent.Kind, _ track: PlayerTrack, before ringFrame: Int) {
    emit(kind, track, timeline.end(before: ringFrame))
  }

  private func emit(
    _ kind: PlayerEvent.Kind, _ track: PlayerTrack,
    _ position: (frame: Int, nanoseconds: UInt64)? = nil, playedFrames: Int? = nil
  ) {
    listeners.events.send(
      PlayerEvent(
        kind: kind, track: track, index: track.index, source: track.info.name,
        frame: position?.frame, nanoseconds: position?.nanoseconds, playedFrames: playedFrames))
  }
}
