import RealtimeAudio

/// A file on an HTTP or HTTPS server, or a radio station. The bytes are downloaded as they are
/// read, a limited amount ahead, and stored in a temporary file that is deleted with the process.
///
/// A broken connection is resumed at the same position, unless the file has changed since.
public final class RemoteFile: ByteSource {
  /// The state that this object and the network thread share until the thread has ended.
  let shared: MutexBox<RemoteState>
  private let signal: WakeSignal
  private let thread: RealtimeThread<Download>
  private let length: Int?
  let address: WebAddress
  /// The address after redirects. Relative names in the contents are resolved against it.
  let location: WebAddress
  let timeouts: RemoteFileTimeouts
  /// The time of the request, in seconds of the host clock.
  let requestTime: Double

  /// The name in messages: the address without a password.
  public let name: String
  /// The MIME type reported by the server (such as `audio/mpeg`); nil if it reports none.
  public let contentType: String?
  /// The bit rate in bits per second announced by a station; nil if it announces none.
  public let announcedBitRate: Int?

  /// Requests the file at `address`, and returns when the server has begun to send it, after at
  /// most `timeouts.openTimeout` seconds. `whileWaiting` receives a function that cancels the wait
  /// from any thread. Throws `.cannotOpen`, `.permissionDenied`, `.unusableContents` if it is not
  /// audio, and `.cannotCreate` if it cannot be stored on disk.
  public init(
    address: String, timeouts: RemoteFileTimeouts = RemoteFileTimeouts(),
    bounds: RemoteFileBounds = RemoteFileBounds(),
    whileWaiting: (_ end: @escaping @Sendable () -> Void) -> Void = { _ in }
  ) throws(FileFailure) {
    try CurlLibrary.load()
    let address = try WebAddress(address)
    try UnreachableServers.check(address)
    let requestTime = HostClock.seconds
    let bounds = bounds.limited
    let shared = MutexBox(RemoteState(cache: try SparseCache(), bounds: bounds))
    let signal = try WakeSignal(for: address.name)
    let thread = try Self.thread(
      Download(
        address: address, shared: shared, signal: signal, timeouts: timeouts, bounds: bounds))
    whileWaiting {
      shared.withLock { $0.isInterrupted = true }
      shared.notifyAll()
    }
    let opening: Result<RemoteFacts, FileFailure> = shared.wait { state in
      if state.isInterrupted { return .failure(.cancelled(address)) }
      // A failure after the opening is reported by the read that reaches it, even if this thread is
      // late.
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
    self.requestTime = requestTime
    name = address.name
    contentType = facts.contentType
    announcedBitRate = facts.bitRate
    length = facts.byteCount
  }

  /// Returns whether opening `address` would fail at once, because a recent connection to its
  /// server failed.
  public static func failsAtOnce(_ address: String) -> Bool {
    guard (try? CurlLibrary.load()) != nil, let address = try? WebAddress(address) else {
      return false
    }
    return (try? UnreachableServers.check(address)) == nil
  }

  // Releasing the thread waits for its end.
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

  /// The length of the file in bytes; nil if the server does not report it and the end was not
  /// reached yet.
  public var byteCount: Int? {
    length ?? shared.withLock { $0.situation.end }
  }

  /// Whether bytes can be read at any offset: the server supports ranges, or the file is complete.
  public var isSeekable: Bool {
    shared.withLock { $0.situation.hasRanges || $0.isComplete }
  }

  /// Whether the server sends any part of the file that is requested.
  fileprivate var hasRanges: Bool { shared.withLock { $0.situation.hasRanges } }

  /// The maximum number of bytes downloaded ahead of the reader. Use more for audio with a higher
  /// bit rate. Any thread.
  public var readAheadByteCount: Int {
    get { shared.withLock { $0.situation.bounds.readAhead } }
    set {
      let isIdle = shared.withLock { state in
        state.situation.bounds.readAhead = newValue.clamped(
          to: 1...RemoteFileBounds.maximumByteCount)
        return state.needsAttention
      }
      if isIdle { signal.send() }
    }
  }

  /// Reads as described in `ByteSource`. Throws `.readFailed` if the connection broke permanently
  /// or the file has changed, `.cannotOpen` or `.permissionDenied` if the server no longer delivers
  /// the file, and `.diskFull` if it cannot be stored.
  public func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int {
    // No file is longer than this limit.
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
      // The network thread wakes a reader whose deadline has passed.
      if state.needsAttention || !state.isDeadlineKnown { signal.send() }
      state.isDeadlineKnown = true
      return nil
    }
  }

  /// Calls `open`, whose reads fail after `timeouts.audioTimeout` seconds since the request,
  /// regardless of the number of bytes received. One thread at a time. Throws `.unusableContents`
  /// in that case, `.cannotOpen` if hardly any bytes were received or the connection broke
  /// permanently, and the errors that `open` throws.
  public func probe<Opened>(
    _ open: () throws(FileFailure) -> Opened
  ) throws(FileFailure) -> Opened {
    setDeadline(SoundDeadline(time: requestTime + timeouts.audioTimeout, isFirst: true))
    defer { setDeadline(nil) }
    do throws(FileFailure) {
      return try open()
    } catch {
      throw error.whileOpening
    }
  }

  /// Calls `read`, which must deliver the next frames, and whose reads fail after `seconds`
  /// seconds. One thread at a time. Throws `.readFailed` in that case, and the errors that `read`
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

  /// Returns the failure for an expired deadline: a server that has sent fewer than 4096 bytes is
  /// unreachable, and a file of more bytes contains no audio.
  private func noSoundInTime(
    _ deadline: SoundDeadline, _ state: borrowing RemoteState
  ) -> FileFailure {
    guard deadline.isFirst else { return .noMoreSound(name) }
    return state.cache.present.end < Downloader.firstBytes
      ? .unreachable(address, "bytes came too slowly") : .noSoundInTime(name)
  }

  /// Returns the number of stored bytes from `offset` on. Any thread.
  public func readyByteCount(at offset: Int) -> Int {
    guard offset >= 0 else { return 0 }
    return shared.withLock { $0.cache.present.firstGap(from: offset) - offset }
  }

  /// The recent download rate in bytes per second, measured while bytes were needed; nil if all
  /// bytes up to the end are stored, or if no measurement is available yet. Any thread.
  public var bytesPerSecond: Double? {
    let now = HostClock.seconds
    return shared.withLock { state in
      let missing = state.cache.present.firstGap(from: state.situation.reader)
      if let end = state.situation.end, missing >= end { return nil }
      return state.meter.rate(now: now)
    }
  }

  /// The title announced by the station for the current read position, or the name of the station.
  /// Any thread.
  public var announcedTitle: String? {
    shared.withLock { $0.titles.title(at: $0.situation.reader) }
  }

  /// Whether `interrupt` was called, and `proceed` was not called since. Any thread.
  public var isInterrupted: Bool {
    shared.withLock { $0.isInterrupted }
  }

  /// Returns whether the reader is at `offset`, and the download is paused because enough bytes are
  /// stored ahead of it. Any thread.
  public func isWaiting(forReadAt offset: Int) -> Bool {
    shared.withLock { state in
      guard state.situation.reader == offset else { return false }
      let task = state.situation.nextTask(state.cache.present)
      return task == .pause || task == .rest
    }
  }

  /// Whether no more bytes can be downloaded, because the connection broke permanently. Any thread.
  public var isBroken: Bool {
    shared.withLock { $0.failure != nil }
  }

  /// Ends a blocking read, and makes all later reads return at once, until `proceed` is called. Any
  /// thread.
  public func interrupt() {
    shared.withLock { $0.isInterrupted = true }
    shared.notifyAll()
  }

  /// Allows reads to block again. After a permanently broken connection, it is tried again. Any
  /// thread.
  public func proceed() {
    shared.withLock { state in
      guard state.isInterrupted else { return }
      state.isInterrupted = false
      if state.failureMayPass { state.failure = nil }
    }
  }
}

/// The limits on the bytes that a `RemoteFile` downloads and stores. Negative values count as 0.
/// Values above 1 TiB, or above 2 GiB for `receiveBuffer`, count as that limit. At least 64 KiB are
/// stored.
public struct RemoteFileBounds: Sendable {
  /// The maximum number of bytes downloaded ahead of the reader.
  public var readAhead = 1 << 20
  /// The number of bytes of the first request, and of the first after a jump. It doubles with each
  /// request that continues the last one.
  public var firstRequest = 64 << 10
  /// The largest gap in bytes that is downloaded as part of a running transfer. For a larger gap, a
  /// new transfer begins.
  public var gap = 256 << 10
  /// The maximum number of bytes stored on disk.
  public var cache = 256 << 20
  /// The maximum number of bytes of an endless stream stored on disk.
  public var window = 4 << 20
  /// The number of bytes that the kernel may receive in addition while a transfer is paused.
  public var receiveBuffer = 128 << 10

  /// Creates the default limits for audio files.
  public init() {}

  /// The upper limit of 1 TiB.
  static let maximumByteCount = 1 << 40
  /// The minimum number of bytes stored, which includes the bytes to be read next.
  private static let minimumKept = 64 << 10

  /// These limits reduced to valid values, with which calculations do not overflow.
  var limited: RemoteFileBounds {
    var limited = self
    limited.readAhead = readAhead.clamped(to: 0...Self.maximumByteCount)
    limited.firstRequest = firstRequest.clamped(to: 0...Self.maximumByteCount)
    limited.gap = gap.clamped(to: 0...Self.maximumByteCount)
    limited.cache = cache.clamped(to: Self.minimumKept...Self.maximumByteCount)
    limited.window = window.clamped(to: Self.minimumKept...Self.maximumByteCount)
    limited.receiveBuffer = receiveBuffer.clamped(to: 0...Int(Int32.max))
    return limited
  }
}

/// The timeouts and retry limits of a `RemoteFile`. Times are in seconds.
public struct RemoteFileTimeouts: Sendable {
  /// The time limit for the name lookup and the connection to the server.
  public var connectTimeout = 5.0
  /// The time limit for the complete header of a response.
  public var responseTimeout = 10.0
  /// The time limit for the first 4 KiB of the file, including all retries and redirects.
  public var openTimeout = 10.0
  /// The time limit until a decoder has found the first second of audio, including all steps above,
  /// and for each following second, regardless of other data received.
  public var audioTimeout = 18.0
  /// The time in seconds during which a server that accepted no connection is not contacted again.
  public var unreachableServerRetryDelay = 10.0
  /// The time without any bytes after which a transfer counts as broken.
  public var stallTimeout = 10.0
  /// The period over which a rate below `lowSpeedLimit` counts as a broken transfer.
  public var lowSpeedTime = 10.0
  /// The lowest acceptable rate in bytes per second.
  public var lowSpeedLimit = 256.0
  /// The waiting time in seconds before the first retry. It doubles with each further retry.
  public var firstRetryDelay = 0.25
  /// The maximum number of consecutive retries without new bytes.
  public var maximumRetryCount = 5

  /// Creates the default limits, which suit interactive playback.
  public init() {}
}

extension ByteSource {
  /// Whether any part of the source could be read from its opening on, so that only its format
  /// prevents seeks. A server without ranges sends a source that becomes seekable at its end.
  package var hadRandomAccess: Bool { (self as? RemoteFile)?.hasRanges ?? isSeekable }
}
