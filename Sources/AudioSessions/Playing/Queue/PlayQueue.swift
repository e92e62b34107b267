import AudioBasics
import AudioFiles
import RealtimeAudio

/// A sequence of sources that are played without a gap; the next one is opened while one plays.
///
/// One thread at a time reads; the data that other threads see and change are behind locks.
final class PlayQueue: @unchecked Sendable {
  // @unchecked because locks protect the shared part; the rest belongs to the reading thread.
  let list: MutexBox<QueueList>
  let published = MutexBox(PlayedSpans())
  /// The number of consecutive failed sources after which `read` returns, so that other work runs.
  static let maximumFailures = 16
  /// The number of sources that stay open until all of each was played: a second of very short
  /// files could be more than a program may have open. A seek into a closed source opens it again.
  private static let maximumSources = 64
  let opener: SourceOpener
  /// The generation of the list for which `upcoming` was opened.
  var generation = -1
  var current: (any QueueSource)?
  /// The source that is already open, to be played after the current one.
  var upcoming: (any QueueSource)?
  /// The sources that still have frames to be played, by the numbers of their turns.
  var sources: [Int: any QueueSource] = [:]
  /// The continuation of a source of an earlier queue, until it is open.
  var resumption: QueueResumption?
  /// Whether another queue continues with the list. Set while the list is locked.
  let isRetired = AtomicFlag()
  /// The decoders of sources that were read ahead but not played.
  var unplayedDecoders: UnplayedDecoders
  /// The first round of the list that still has frames to be played.
  private var oldestRound = 0
  private var delivery = QueueDelivery()
  /// The number of samples of all sources that were NaN or infinite, and were replaced by silence.
  private(set) var nonFiniteCount = 0
  /// The frame of the ring buffer at which replaced frames are cut off.
  var spliceFrame = 0
  /// Whether the next source is not open yet, or has too few frames.
  var isWaiting = false
  /// A callback for the decoders to be read next, before the read, which seeks first and may block.
  var willRead: ([any SoundDecoder]) -> Void = { _ in }
  var prebuffering: Prebuffering

  /// Creates a queue of the items of `list`, which continues with the state `carried` from another
  /// one.
  init(
    list: MutexBox<QueueList>, opener: SourceOpener, prebufferSeconds: Double?,
    carried: CarriedQueue? = nil
  ) {
    self.list = list
    self.opener = opener
    prebuffering = Prebuffering(seconds: prebufferSeconds)
    unplayedDecoders = UnplayedDecoders(
      carried?.decoders ?? [:], removals: list.withLock { $0.removals })
    if let resumption = carried?.resumption {
      self.resumption = resumption
      published.withLock { $0.spans = [resumption.span] }
    }
  }

  /// Whether the queue begins in the middle of a source.
  var resumes: Bool { resumption != nil }

  /// Whether no more frames follow.
  var isOver: Bool { current == nil && resumption == nil && !list.withLock { $0.hasNext } }

  /// Whether a skip ended the track that played, and the next one has not begun.
  private(set) var isCut = false

  /// Returns the position played at the queue's frame `frame`; nil if there is none, or if it is
  /// already skipped.
  func position(at frame: Int) -> PlaybackPosition? {
    isCut ? nil : published.withLock { $0.position(at: frame) }
  }

  /// Whether the track must seek before its next frame can be read.
  var isElsewhere: Bool { current?.isElsewhere ?? false }

  /// The decoders of the current source, whose waits can be interrupted.
  var decoders: [any SoundDecoder] { current?.decoders ?? [] }

  /// Fills the start of `buffer` and returns the number of frames; 0 at the end, and while the
  /// queue waits. Throws the failure of a source; the next call continues with the next source.
  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    isWaiting = false
    while true {
      if resumption != nil {
        guard try resume() else { return 0 }
      } else if current == nil {
        guard try openNext() else { return 0 }
        guard begin(at: delivery.frames) else { continue }
      }
      willRead(decoders)
      if let current {
        isWaiting = prebuffering.isNeeded(by: current)
        guard !isWaiting else { return 0 }
      }
      let count = try readCurrent(into: &buffer, frames: frames)
      if count > 0 {
        deliver(count)
        return count
      }
      // A pending request takes precedence, even if the track has just ended.
      if decoders.contains(where: \.isInterrupted) { return 0 }
      if let track = current as? TrackReader, track.holdsTail {
        guard try join(track) else { return 0 }
      } else {
        close()
      }
    }
  }

  /// Begins the first turn if none has begun. Returns false while its source is not open yet.
  func beginFirst() -> Bool {
    var rest = Self.maximumFailures
    while current == nil, resumption != nil || published.withLock({ $0.spans.isEmpty }) {
      guard rest > 0 else { return false }
      let resumes = resumption != nil
      // The failure is recorded, and the next source follows.
      guard let isThere = try? resumes ? resume() : openNext() else {
        rest -= 1
        continue
      }
      guard isThere else { return !isWaiting }
      if !resumes, !begin(at: delivery.frames) { rest -= 1 }
    }
    return true
  }

  private func readCurrent(
    into buffer: inout SampleBuffer, frames: Int
  ) throws(FileFailure) -> Int {
    (current as? TrackReader)?.isFollowed = list.withLock { $0.hasNext || $0.repeats }
    prepareNext()
    let (source, earlierCount) = (current, current?.nonFiniteCount ?? 0)
    defer { nonFiniteCount += (source?.nonFiniteCount ?? 0) - earlierCount }
    do throws(FileFailure) {
      let count = try current?.read(into: &buffer, frames: frames) ?? 0
      for part in current?.takeFailures() ?? [] { published.withLock { $0.fail(part) } }
      return count
    } catch {
      published.withLock { $0.fail(error) }
      close()
      throw error
    }
  }

  /// Starts to open the next source, unless it is already open or being opened.
  private func prepareNext() {
    let (nextEntry, wanted, removals) = list.withLock { ($0.nextEntry, $0.generation, $0.removals) }
    if wanted != generation {
      upcoming = nil
      opener.giveUp()
      generation = wanted
    }
    guard let nextEntry, upcoming == nil, !opener.isBusy else { return }
    unplayedDecoders.discard(unlessAfter: removals)
    if let decoders = unplayedDecoders.decoders[nextEntry.position] {
      opener.begin(nextEntry.item.reusing(decoders))
    } else {
      opener.begin(nextEntry.item)
    }
  }

  /// Opens the next source as the upcoming one. Returns false if there is none, or if it is not
  /// open yet. Throws its failure.
  private func openNext() throws(FileFailure) -> Bool {
    prepareNext()
    guard upcoming == nil else { return true }
    guard list.withLock({ $0.hasNext }) else { return false }
    guard let opened = opener.take() else {
      isWaiting = true
      return false
    }
    do throws(FileFailure) {
      upcoming = try opened.get()
      if delivery.frames > 0 { (upcoming as? TrackReader)?.beginAfterSound() }
      return true
    } catch {
      guard let entry = beginNext() else {
        isWaiting = true
        return false
      }
      published.withLock { $0.fail(error, item: entry.item, index: entry.position.index) }
      throw error
    }
  }

  /// Joins the next source to the track that has ended, except for the frames its converter holds
  /// back: the next one takes them over if it can. Returns false while the next one is not open
  /// yet.
  private func join(_ track: TrackReader) throws(FileFailure) -> Bool {
    let end = track.endFrame
    let isThere = try openNext()
    guard isThere || !isWaiting else { return false }
    if !begin(at: delivery.chainStart + end, adopting: track),
      // If the list was changed in the meantime, the new next source may take the frames over.
      list.withLock({ $0.generation == generation })
    {
      track.flushTail(beforeSound: upcoming != nil)
    }
    return true
  }

  /// Begins the turn of the upcoming source at `frame` of the queue, with the frames that the
  /// converter of `earlier` holds back. Returns false, without any change, if the source cannot
  /// take these over, or if the list was changed after it was opened, so that another source comes
  /// next.
  private func begin(at frame: Int, adopting earlier: TrackReader? = nil) -> Bool {
    guard let source = upcoming else { return false }
    guard let info = source.info else {
      // A source without frames still counts as played.
      upcoming = nil
      _ = beginNext()
      return false
    }
    var outdated: QueueItem?
    let taken = list.withLock { list -> (entry: QueueList.Entry, number: Int)? in
      guard list.generation == generation, !isRetired.isRaised else { return nil }
      if let earlier {
        guard let track = source as? TrackReader, track.adopt(earlier) else { return nil }
      }
      guard let entry = list.begin(generation) else { return nil }
      outdated = list.noteTurn(of: entry.item, outdatedAfter: Self.maximumSources)
      return (entry, list.takeTrackNumber())
    }
    for part in outdated?.parts ?? [] { part.release?() }
    guard let (taken, trackNumber) = taken else { return false }
    delivery.begin(at: frame, joinsEarlier: earlier != nil)
    current = source
    upcoming = nil
    unplayedDecoders.remove(through: taken.position)
    sources[trackNumber] = source
    sources[trackNumber - Self.maximumSources] = nil
    prebuffering.begin(source)
    let span = TrackSpan(
      track: PlayerTrack(
        number: trackNumber, position: taken.position, info: info,
        decoderIDs: taken.item.parts.compactMap(\.decoderID)),
      item: taken.item, startFrame: frame, frames: 0, positions: source.positions,
      settings: source.settings)
    published.withLock { $0.spans.append(span) }
    isCut = false
    return true
  }

  /// Begins the turn of the next item of the list; nil if another item comes next.
  private func beginNext() -> QueueList.Entry? {
    list.withLock { isRetired.isRaised ? nil : $0.begin(generation) }
  }

  private func deliver(_ count: Int) {
    list.withLock { $0.hasDelivered = true }
    let title = decoders.first?.announcedTitle
    published.withLock { played in
      played.announce(title)
      delivery.add(count, to: &played.spans)
    }
  }

  /// Closes the spans of the source that is over.
  private func close() {
    delivery.forgetJoins()
    current = nil
    published.withLock { played in
      for index in played.spans.indices where !played.spans[index].isClosed {
        played.spans[index].complete()
      }
    }
  }

  /// Keeps decoders that were read ahead and will be played later: some sources cannot be read
  /// twice.
  private func keep(_ spans: [TrackSpan]) {
    unplayedDecoders.discard(unlessAfter: list.withLock { $0.removals })
    for track in spans.map(\.track) where !track.info.supportsSeeking {
      unplayedDecoders.decoders[track.position] = sources[track.number]?.decoders
    }
  }

  /// Ends the current source at the queue's frame `frame`; the next source is played from there on.
  func cut(at frame: Int) {
    let unplayed = published.withLock { played in
      played.jump = RingJump(start: spliceFrame, end: delivery.frames)
      return played.cut(at: frame)
    }
    keep(unplayed)
    delivery.forgetJoins()
    current = nil
    isCut = true
  }

  /// Changes the playback from the queue's frame `frame` on: `change` modifies the settings and the
  /// position, a boundary of the file. Returns false if nothing is played there. Throws, without
  /// any change, if the source does not support it.
  func change(
    at frame: Int,
    _ change: (inout TrackSettings, inout Double, any QueueSource) throws(FileFailure) -> Void
  ) throws(FileFailure) -> Bool {
    guard var span = published.withLock({ $0.span(at: frame) }) else { return false }
    let source: any QueueSource
    if let open = sources[span.track.number] {
      source = open
    } else {
      source = try reopen(span)
    }
    let frames = max(0, min(frame, span.endFrame) - span.startFrame)
    span.settings.range = span.positions.range(after: frames)
    var position = span.positions.boundary(after: frames)
    try change(&span.settings, &position, source)
    try source.begin(span.settings, at: position)
    delivery.beginChain()
    list.withLock { $0.skip(to: span.track.position.moved(by: 1)) }
    current = source
    isCut = false
    sources[span.track.number] = source
    prebuffering.begin(source)
    span.startFrame = delivery.frames
    span.frames = 0
    span.isClosed = false
    span.isComplete = false
    span.positions = source.positions
    let unplayed = published.withLock { played in
      defer { played.spans.append(span) }
      played.jump = RingJump(start: spliceFrame, end: delivery.frames)
      return played.cut(at: frame, keeping: span.track)
    }
    keep(unplayed)
    return true
  }

  /// Opens a source that was closed before all of it was played. Throws if that may take long, or
  /// if the source cannot be read again.
  private func reopen(_ span: TrackSpan) throws(FileFailure) -> any QueueSource {
    guard span.track.info.supportsSeeking, !span.item.parts.contains(where: \.takesTime) else {
      throw FileFailure(
        .unusableContents,
        "\(span.track.info.name) is played as it is: it is one of more than \(Self.maximumSources) in a second.",
        hint: "Save it to a file first.")
    }
    return try span.item.source(
      CancellableOpening(), sampleRate: opener.sampleRate, channelCount: opener.channelCount)
  }

  /// Releases the sources that have no more frames to be played.
  func release() {
    // This is called every few frames, and allocates nothing unless there is something to release.
    let (gone, oldestHeard) = published.withLock { played in
      played.isOver = isOver
      if decoders.isEmpty { played.announce(nil) }
      return (
        sources.keys.filter { !played.holds(turn: $0) },
        played.spans.first?.track.position.round
      )
    }
    for number in gone { sources[number] = nil }
    // If no frames are left to be played, the round that is read next is the oldest one in use.
    let oldest = oldestHeard ?? list.withLock { $0.next.round }
    if oldest > oldestRound {
      oldestRound = oldest
      list.withLock { $0.forgetRounds(before: oldest) }
    }
  }
}
