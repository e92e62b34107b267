import AudioBasics
import AudioFiles
import RealtimeAudio

/// Sources one after the other, without a gap; the next one is opened while one plays.
///
/// One thread at a time reads; what others see and change is behind locks.
final class PlayQueue: @unchecked Sendable {
  // @unchecked because all but what is behind the locks belongs to the thread that reads.
  let list: MutexBox<QueueList>
  let published = MutexBox(PlayedSpans())
  /// Failed sources in a row after which `read` returns, so that other work runs.
  static let mostFailures = 16
  /// The most sources that stay open until all of them was played: a second of very short files
  /// could be more than a program may have open. A seek into one that was closed opens it again.
  private static let mostSources = 64
  let opener: SourceOpener
  /// The state of the list that `upcoming` was opened for.
  var generation = -1
  var current: (any QueueSource)?
  /// Opened already, to be played when the current one is over.
  var upcoming: (any QueueSource)?
  /// Sources of which something is still to be heard, by their turns.
  var sources: [Int: any QueueSource] = [:]
  /// What went on from an earlier queue, until it is read; whether it is being opened.
  var resumption: QueueResumption?
  var isResuming = false
  /// Whether another queue goes on with the list. Set behind the list's lock.
  let isRetired = AtomicFlag()
  /// What was read ahead and not heard, by its place in the list.
  var restarts: [QueuePosition: [any SoundDecoder]] = [:]
  private var restartRemovals = 0
  /// The first round of the list of which something is still to be heard.
  private var oldestRound = 0
  /// Frames that went out.
  private(set) var delivered = 0
  /// Samples of all sources that were NaN or infinite, and were replaced by silence before a
  /// converter.
  private(set) var nonFiniteCount = 0
  /// The frame of the ring at which what was replaced is cut.
  var spliceFrame = 0
  /// Where the first of the tracks that share a converter began.
  private var chainStart = 0
  /// Where tracks end whose last frames are still on their way through the converter of a later
  /// one.
  private var boundaries: [Int] = []
  /// Whether the next source is not there yet, or has too little.
  var isWaiting = false
  /// Told what is read next, before it is: the first read goes to where it begins, and may wait.
  var willRead: ([any SoundDecoder]) -> Void = { _ in }
  /// Whether what plays was too slow, and should first gather some.
  var isGathering = false

  /// Seconds of sound that must be there of a network source before it plays; nil where it may be
  /// fewer than three, if the network is fast.
  let prebufferSeconds: Double?

  /// A queue of what is on `list`, which goes on with what was `carried` from another.
  init(
    list: MutexBox<QueueList>, opener: SourceOpener, prebufferSeconds: Double?,
    carried: CarriedQueue? = nil
  ) {
    self.list = list
    self.opener = opener
    self.prebufferSeconds = prebufferSeconds
    restarts = carried?.decoders ?? [:]
    restartRemovals = list.withLock { $0.removals }
    if let resumption = carried?.resumption {
      self.resumption = resumption
      published.withLock { $0.spans = [resumption.span] }
    }
  }

  /// Whether it begins in the middle of a source.
  var resumes: Bool { resumption != nil }

  /// Whether there is nothing more to come.
  var isOver: Bool { current == nil && resumption == nil && !list.withLock { $0.hasNext } }

  /// Whether the track that played was ended by a skip, and the next one has not begun.
  private(set) var isCut = false

  /// The position that is played at the queue's frame `frame`; nil where nothing is, or where it is
  /// skipped already.
  func position(at frame: Int) -> PlaybackPosition? {
    isCut ? nil : published.withLock { $0.position(at: frame) }
  }

  /// Whether the track must seek before its next frame can be read.
  var isElsewhere: Bool { current?.isElsewhere ?? false }

  /// What is played: its waits can be interrupted.
  var decoders: [any SoundDecoder] { current?.decoders ?? [] }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end, and while it
  /// waits. Throws what went wrong with a source, and goes on with the next when it is asked again.
  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    isWaiting = false
    while true {
      if resumption != nil {
        guard try resume() else { return 0 }
      } else if current == nil {
        guard try openNext() else { return 0 }
        guard begin(at: delivered) else { continue }
      }
      willRead(decoders)
      if isGathering, let current {
        isWaiting = !current.isReadable(prebuffer: prebufferSeconds)
        guard !isWaiting else { return 0 }
        isGathering = false
      }
      let count = try readCurrent(into: &buffer, frames: frames)
      if count > 0 {
        deliver(count)
        return count
      }
      // What is asked for comes first, also where the track has just ended.
      if decoders.contains(where: \.isInterrupted) { return 0 }
      if let track = current as? TrackReader, track.holdsTail {
        guard try join(track) else { return 0 }
      } else {
        close()
      }
    }
  }

  /// Begins the first turn, if none has begun. False while its source is not there yet.
  func beginFirst() -> Bool {
    var rest = Self.mostFailures
    while current == nil, resumption != nil || published.withLock({ $0.spans.isEmpty }) {
      guard rest > 0 else { return false }
      let resumes = resumption != nil
      // What went wrong is kept, and the next one has its turn.
      guard let isThere = try? resumes ? resume() : openNext() else {
        rest -= 1
        continue
      }
      guard isThere else { return !isWaiting }
      if !resumes, !begin(at: delivered) { rest -= 1 }
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

  /// Has the next source opened, unless it is already, or on its way.
  private func prepareNext() {
    let (coming, wanted, removals) = list.withLock { ($0.coming, $0.generation, $0.removals) }
    if wanted != generation {
      upcoming = nil
      opener.giveUp()
      generation = wanted
    }
    guard let coming, upcoming == nil, !opener.isBusy else { return }
    if restartRemovals != removals { restarts = [:] }
    if let decoders = restarts[coming.place] {
      opener.begin(coming.item.reusing(decoders))
    } else {
      opener.begin(coming.item)
    }
  }

  /// Opens the next source as the upcoming one. False where there is none, or it is not there yet.
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
      (upcoming as? TrackReader)?.followsSound = delivered > 0
      return true
    } catch {
      guard let entry = beginComing() else {
        isWaiting = true
        return false
      }
      published.withLock { $0.fail(error, item: entry.item, index: entry.place.index) }
      throw error
    }
  }

  /// The current track has ended but for what its converter holds back: the next one takes that
  /// over where it can. False while the next one is not there yet.
  private func join(_ track: TrackReader) throws(FileFailure) -> Bool {
    let end = track.endFrame
    let isThere = try openNext()
    guard isThere || !isWaiting else { return false }
    if !begin(at: chainStart + end, adopting: track),
      // Where the list was changed meanwhile, what comes instead may take it over.
      list.withLock({ $0.generation == generation })
    {
      track.flushTail(beforeSound: upcoming != nil)
    }
    return true
  }

  /// The turn of the upcoming source begins at `frame` of the queue, with what the converter of
  /// `earlier` holds back. False, and nothing has happened, where it cannot take that over, or
  /// where the list was changed since it was opened, so that another source comes next.
  private func begin(at frame: Int, adopting earlier: TrackReader? = nil) -> Bool {
    guard let source = upcoming else { return false }
    guard let info = source.info else {
      // A source without frames still counts as played.
      upcoming = nil
      _ = beginComing()
      return false
    }
    var outdated: QueueItem?
    let taken = list.withLock { list -> (entry: QueueList.Entry, number: Int)? in
      guard list.generation == generation, !isRetired.isRaised else { return nil }
      if let earlier {
        guard let track = source as? TrackReader, track.adopt(earlier) else { return nil }
      }
      guard let entry = list.begin(generation) else { return nil }
      outdated = list.noteTurn(of: entry.item, outdatedAfter: Self.mostSources)
      return (entry, list.takeTrackNumber())
    }
    for part in outdated?.parts ?? [] { part.release?() }
    guard let (taken, trackNumber) = taken else { return false }
    if earlier != nil { boundaries.append(frame) }
    current = source
    upcoming = nil
    restarts = restarts.filter { $0.key > taken.place }
    if boundaries.isEmpty { chainStart = frame }
    sources[trackNumber] = source
    sources[trackNumber - Self.mostSources] = nil
    isGathering = !source.isReady(prebuffer: prebufferSeconds)
    let span = TrackSpan(
      track: PlayerTrack(
        number: trackNumber, place: taken.place, info: info,
        decoderIDs: taken.item.parts.compactMap(\.decoderID)),
      item: taken.item, startFrame: frame, frames: 0, positions: source.positions,
      settings: source.settings)
    published.withLock { $0.spans.append(span) }
    isCut = false
    return true
  }

  /// Begins the turn of the next item on the list; nil where something else comes next.
  private func beginComing() -> QueueList.Entry? {
    list.withLock { isRetired.isRaised ? nil : $0.begin(generation) }
  }

  /// Frames went out: to the oldest span that is not closed, up to where it ends.
  private func deliver(_ count: Int) {
    list.withLock { $0.hasDelivered = true }
    var rest = count
    published.withLock { played in
      while rest > 0 {
        let index = played.spans.count - 1 - boundaries.count
        guard played.spans.indices.contains(index) else { return }
        let part = min(rest, boundaries.first.map { $0 - delivered } ?? rest)
        played.spans[index].frames += part
        delivered += part
        rest -= part
        if boundaries.first == delivered {
          boundaries.removeFirst()
          played.spans[index].isComplete = true
          played.spans[index].isClosed = true
        }
      }
    }
  }

  /// Closes the spans of the source that is over.
  private func close() {
    boundaries.removeAll()
    current = nil
    published.withLock { played in
      for index in played.spans.indices where !played.spans[index].isClosed {
        played.spans[index].isComplete = true
        played.spans[index].isClosed = true
      }
    }
  }

  /// Keeps what was read ahead of its turn and is to be heard later: not everything can be read
  /// twice.
  private func keep(_ unplayed: [TrackSpan]) {
    let removals = list.withLock { $0.removals }
    if restartRemovals != removals { restarts = [:] }
    restartRemovals = removals
    for track in unplayed.map(\.track) where !track.info.supportsSeeking {
      restarts[track.place] = sources[track.number]?.decoders
    }
  }

  /// Ends what plays at the queue's frame `frame`: what comes next is what is heard behind it.
  func cut(at frame: Int) {
    let unplayed = published.withLock { played in
      played.jump = RingJump(start: spliceFrame, end: delivered)
      return played.cut(at: frame)
    }
    keep(unplayed)
    boundaries.removeAll()
    current = nil
    isCut = true
  }

  /// Has what is heard at the queue's frame `frame` go on differently: `change` alters its settings
  /// and its place, a boundary of its file. False where nothing is heard there. Throws, and nothing
  /// has changed, where the source cannot do that.
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
    var place = span.positions.boundary(after: frames)
    try change(&span.settings, &place, source)
    try source.begin(span.settings, at: place)
    boundaries.removeAll()
    list.withLock { $0.skip(to: span.track.place.moved(by: 1)) }
    current = source
    isCut = false
    sources[span.track.number] = source
    chainStart = delivered
    isGathering = !source.isReady(prebuffer: prebufferSeconds)
    span.startFrame = delivered
    span.frames = 0
    span.isClosed = false
    span.isComplete = false
    span.positions = source.positions
    let unplayed = published.withLock { played in
      defer { played.spans.append(span) }
      played.jump = RingJump(start: spliceFrame, end: delivered)
      return played.cut(at: frame, keeping: span.track)
    }
    keep(unplayed)
    return true
  }

  /// Opens what was closed before all of it was heard. Throws where that may take long, or what was
  /// read cannot be read again.
  private func reopen(_ span: TrackSpan) throws(FileFailure) -> any QueueSource {
    guard span.track.info.supportsSeeking, !span.item.parts.contains(where: \.takesTime) else {
      throw FileFailure(
        .unusableContents,
        "\(span.track.info.name) is played as it is: it is one of more than \(Self.mostSources) in a second.",
        hint: "Save it to a file first.")
    }
    return try span.item.source(
      CancellableOpening(), sampleRate: opener.sampleRate, channelCount: opener.channelCount)
  }

  /// Lets go of sources of which nothing is heard any more.
  func release() {
    // Done for every few frames: allocates nothing while there is nothing to let go of.
    let (gone, oldestHeard) = published.withLock { played in
      played.isOver = isOver
      played.announcedTitle = decoders.first?.announcedTitle
      return (
        sources.keys.filter { !played.holds(turn: $0) },
        played.spans.first?.track.place.round
      )
    }
    for number in gone { sources[number] = nil }
    // Where nothing is left to play out, the round that is read next is the oldest one in use.
    let oldest = oldestHeard ?? list.withLock { $0.next.round }
    if oldest > oldestRound {
      oldestRound = oldest
      list.withLock { $0.forgetRounds(before: oldest) }
    }
  }
}
