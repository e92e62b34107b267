import RealtimeAudio

/// A file behind HTTP or HTTPS, or a radio station, whose bytes are fetched as they are read, a
/// little ahead, and kept in a file that vanishes with the process.
///
/// A connection that breaks is taken up again where it broke, unless the file has changed since.
public final class RemoteFile: ByteSource {
  private let shared: MutexBox<RemoteState>
  private let signal: WakeSignal
  private let thread: RealtimeThread<Download>
  private let length: Int?
  let address: WebAddress
  /// Where redirects led to it: what its contents name is relative to that.
  let location: WebAddress
  let timeouts: RemoteFileTimeouts
  /// When it was asked for, in seconds of the host's clock.
  let asked: Double

  /// What messages call it: the address, without a password.
  public let name: String
  /// What the server says the bytes are (`audio/mpeg`); nil where it does not.
  public let contentType: String?
  /// Bits a second that a station announces; nil where it does not.
  public let announcedBitRate: Int?

  /// Asks for what is at `address`, and returns when the server has begun to send it: after
  /// `timeouts.opening` seconds at most. Meanwhile the function that `whileWaiting` is given ends
  /// the wait, from any thread. Throws `.cannotOpen`, `.permissionDenied`, `.unusableContents`
  /// where it is not sound, `.cannotCreate` where it cannot be kept on disk.
  public init(
    address: String, timeouts: RemoteFileTimeouts = RemoteFileTimeouts(),
    bounds: RemoteFileBounds = RemoteFileBounds(),
    whileWaiting: (_ end: @escaping @Sendable () -> Void) -> Void = { _ in }
  ) throws(FileFailure) {
    try CurlLibrary.load()
    let address = try WebAddress(address)
    try UnreachableServers.check(address)
    let asked = HostClock.seconds
    let bounds = bounds.limited
    let shared = MutexBox(RemoteState(cache: try SparseCache(), bounds: bounds))
    let signal = try WakeSignal()
    let thread = try Self.thread(
      Download(
        address: address, shared: shared, signal: signal, timeouts: timeouts, bounds: bounds))
    whileWaiting {
      shared.withLock { $0.isInterrupted = true }
      shared.announce()
    }
    let opening: Result<RemoteFacts, FileFailure> = shared.wait { state in
      if state.isInterrupted { return .failure(.cancelled(address)) }
      // What broke after that is told when it is read so far, however late this thread looks.
      if state.situation.isOpen { return .success(state.facts) }
      return state.failure.map { .failure($0.whileOpening) }
    }
    if case .failure(let failure) = opening {
      Self.end(shared, signal)
      _ = thread.join()
      throw failure
    }
    let facts = try opening.get()
    self.shared = shared
    self.signal = signal
    self.thread = thread
    self.address = address
    location = facts.location ?? address
    self.timeouts = timeouts
    self.asked = asked
    name = address.name
    contentType = facts.contentType
    announcedBitRate = facts.bitRate
    length = facts.byteCount
  }

  /// Whether opening `address` fails at once, since no connection to its server came about a moment
  /// ago.
  public static func failsAtOnce(_ address: String) -> Bool {
    guard (try? CurlLibrary.load()) != nil, let address = try? WebAddress(address) else {
      return false
    }
    return (try? UnreachableServers.check(address)) == nil
  }

  // Letting go of the thread waits for its end.
  deinit {
    Self.end(shared, signal)
  }

  private static func end(_ shared: MutexBox<RemoteState>, _ signal: WakeSignal) {
    shared.withLock { $0.isStopped = true }
    signal.send()
  }

  private static func thread(
    _ download: Download
  ) throws(FileFailure) -> RealtimeThread<Download> {
    do throws(ThreadFailure) {
      return try RealtimeThread(
        name: "duplex-network", priority: .normal, stackByteCount: 512 << 10, download)
    } catch {
      throw FileFailure(
        .cannotOpen, error.message,
        hint: "Close other programs, or raise the limit with ulimit -u.")
    }
  }

  /// How many bytes there are; nil where the server does not say and the end has not come yet.
  public var byteCount: Int? {
    length ?? shared.withLock { $0.situation.end }
  }

  /// Whether bytes can be had from any place: the server sends ranges, or all is here.
  public var isSeekable: Bool {
    shared.withLock { $0.situation.hasRanges || $0.isComplete }
  }

  /// Bytes that are fetched ahead of the reader, at most: more for sound with more bytes a second.
  /// Any thread.
  public var readAheadByteCount: Int {
    get { shared.withLock { $0.situation.bounds.readAhead } }
    set {
      let isIdle = shared.withLock { state in
        state.situation.bounds.readAhead = newValue.clamped(to: 1...RemoteFileBounds.most)
        return state.needsAttention
      }
      if isIdle { signal.send() }
    }
  }

  /// See `ByteSource`. Throws `.readFailed` where the connection broke for good or the file has
  /// changed, `.cannotOpen` and `.permissionDenied` where the server does not give it away any
  /// more, `.diskFull` where it cannot be kept.
  public func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    // No file is longer.
    guard !bytes.isEmpty, (0..<FileBounds.byteCount).contains(offset) else { return 0 }
    return try shared.wait { state throws(FileFailure) in
      guard !state.isInterrupted else { return 0 }
      if let deadline = state.soundDeadline, HostClock.seconds >= deadline.time {
        throw noSoundInTime(deadline, state)
      }
      let cache = state.cache
      let count = try mapSystemError(try cache.read(into: bytes, at: offset)) { .cache(name, $0) }
      if count > 0 {
        state.situation.reader = offset + count
        if state.needsAttention { signal.send() }
        return count
      }
      if let end = state.situation.end, offset >= end { return 0 }
      if state.isGone(offset) { throw .gone(name) }
      if let failure = state.failure { throw failure }
      state.situation.reader = offset
      // The network thread wakes a reader whose time is over.
      if state.needsAttention || !state.isDeadlineKnown { signal.send() }
      state.isDeadlineKnown = true
      return nil
    }
  }

  /// What `open` makes of the bytes: reads it makes fail once `timeouts.sounding` seconds are over
  /// since the file was asked for, however many bytes come. One thread at a time. Throws
  /// `.unusableContents` then, `.cannotOpen` where hardly any came or the connection broke for
  /// good, and what `open` throws.
  public func probe<Opened>(
    _ open: () throws(FileFailure) -> Opened
  ) throws(FileFailure) -> Opened {
    setDeadline(SoundDeadline(time: asked + timeouts.sounding, isFirst: true))
    defer { setDeadline(nil) }
    do throws(FileFailure) {
      return try open()
    } catch {
      throw error.whileOpening
    }
  }

  /// What `read`, which is to bring the next frames, makes of the bytes: reads it makes fail once
  /// `seconds` seconds are over. One thread at a time. Throws `.readFailed` then, and what `read`
  /// throws.
  func awaitSound<Answer>(
    atMost seconds: Double, _ read: () throws(FileFailure) -> Answer
  ) throws(FileFailure) -> Answer {
    setDeadline(SoundDeadline(time: HostClock.seconds + seconds, isFirst: false))
    defer { setDeadline(nil) }
    return try read()
  }

  private func setDeadline(_ deadline: SoundDeadline?) {
    shared.withLock { state in
      state.soundDeadline = deadline
      state.isDeadlineKnown = deadline == nil
    }
  }

  /// A server that gives hardly anything away does not let its file be opened; what gives more
  /// should have had sound in it.
  private func noSoundInTime(
    _ deadline: SoundDeadline, _ state: borrowing RemoteState
  ) -> FileFailure {
    guard deadline.isFirst else { return .noMoreSound(name) }
    return state.cache.present.end < Downloader.firstBytes
      ? .unreachable(address, "bytes came too slowly") : .noSoundInTime(name)
  }

  /// How many bytes from `offset` on are here. Any thread.
  public func readyByteCount(at offset: Int) -> Int {
    guard offset >= 0 else { return 0 }
    return shared.withLock { $0.cache.present.firstGap(from: offset) - offset }
  }

  /// Bytes a second that came in lately while they were wanted; nil where all is here to the end,
  /// or nothing was measured yet. Any thread.
  public var bytesPerSecond: Double? {
    let now = HostClock.seconds
    return shared.withLock { state in
      let missing = state.cache.present.firstGap(from: state.situation.reader)
      if let end = state.situation.end, missing >= end { return nil }
      return state.meter.rate(now: now)
    }
  }

  /// What the station says it plays where it is read, or else its name. Any thread.
  public var announcedTitle: String? {
    shared.withLock { $0.titles.title(at: $0.situation.reader) }
  }

  /// Whether `interrupt` was called and `proceed` not yet. Any thread.
  public var isInterrupted: Bool {
    shared.withLock { $0.isInterrupted }
  }

  /// Whether the reader stands at `offset`, and so much lies ahead of it that no more is fetched.
  /// Any thread.
  public func isWaiting(forReadAt offset: Int) -> Bool {
    shared.withLock { state in
      guard state.situation.reader == offset else { return false }
      let decision = state.situation.order(state.cache.present)
      return decision == .pause || decision == .rest
    }
  }

  /// Whether no more can be had: the connection broke for good. Any thread.
  public var isBroken: Bool {
    shared.withLock { $0.failure != nil }
  }

  /// Ends a read that waits, and all further ones at once, until `proceed`. Any thread.
  public func interrupt() {
    shared.withLock { $0.isInterrupted = true }
    shared.announce()
  }

  /// Lets reads wait again; after a connection that broke for good, it is tried anew. Any thread.
  public func proceed() {
    shared.withLock { state in
      guard state.isInterrupted else { return }
      state.isInterrupted = false
      if state.failureMayPass { state.failure = nil }
    }
  }
}

/// Limits on what a `RemoteFile` fetches and keeps, in bytes. Less than nothing counts as nothing,
/// and more than a tebibyte, or for `receiveBuffer` than 2 GiB, as that. It keeps 64 KiB at least.
public struct RemoteFileBounds: Sendable {
  /// Fetched ahead of the reader, at most.
  public var readAhead = 1 << 20
  /// Asked for at first, and after a jump; each request that goes on asks for twice as much.
  public var firstRequest = 64 << 10
  /// Gaps up to this are downloaded through; beyond, a new transfer begins.
  public var gap = 256 << 10
  /// Kept on disk.
  public var cache = 256 << 20
  /// Kept on disk of a stream without an end.
  public var window = 4 << 20
  /// What the kernel may take in beyond that, while a transfer pauses.
  public var receiveBuffer = 128 << 10

  /// What suits sound files.
  public init() {}

  /// A tebibyte.
  static let most = 1 << 40
  /// What is on its way to the reader is kept in any case.
  private static let leastKept = 64 << 10

  /// The same within their limits: none of them can be calculated with otherwise.
  var limited: RemoteFileBounds {
    var limited = self
    limited.readAhead = readAhead.clamped(to: 0...Self.most)
    limited.firstRequest = firstRequest.clamped(to: 0...Self.most)
    limited.gap = gap.clamped(to: 0...Self.most)
    limited.cache = cache.clamped(to: Self.leastKept...Self.most)
    limited.window = window.clamped(to: Self.leastKept...Self.most)
    limited.receiveBuffer = receiveBuffer.clamped(to: 0...Int(Int32.max))
    return limited
  }
}

/// Timeouts and retry limits of a `RemoteFile`. Times are seconds.
public struct RemoteFileTimeouts: Sendable {
  /// Until a server is found and answers at all.
  public var connecting = 5.0
  /// Until the header of a response is there, whole.
  public var answering = 10.0
  /// Until the first 4 KiB are there, with all tries and redirects.
  public var opening = 10.0
  /// Until a decoder has found the first second of sound, all of that included, and each second
  /// that follows, whatever else comes meanwhile.
  public var sounding = 18.0
  /// During which a server to which no connection came about is not asked again.
  public var absence = 10.0
  /// Without a byte before a transfer counts as broken.
  public var stalling = 10.0
  /// The time over which fewer than `slowestRate` bytes a second count as a break.
  public var dripping = 10.0
  /// Bytes a second.
  public var slowestRate = 256.0
  /// Before the first new try; each further one waits twice as long.
  public var firstPause = 0.25
  /// New tries in a row that bring no new byte.
  public var tryCount = 5

  /// The default limits where a person listens.
  public init() {}
}
