import RealtimeAudio

/// The work of the network thread: downloads until the file is closed.
struct Download: RealtimeWork, Sendable {
  let address: WebAddress
  let shared: MutexBox<RemoteState>
  let signal: WakeSignal
  let timeouts: RemoteFileTimeouts
  let bounds: RemoteFileBounds

  mutating func run() {
    guard let downloader = Downloader(self) else {
      shared.withLock { $0.failure = .unreachable(address, "there is no memory left") }
      return shared.notifyAll()
    }
    downloader.run()
  }
}

/// The downloader of the bytes that the reader needs, ahead of its position. Network thread only.
final class Downloader {
  let shared: MutexBox<RemoteState>
  let signal: WakeSignal
  let timeouts: RemoteFileTimeouts
  let bounds: RemoteFileBounds
  private let multi: CurlMulti
  private let openingDeadline: Double

  var address: RedirectedAddress
  private var asksForRanges = true
  /// The properties of the file; nil before the first response.
  var facts: RemoteFacts?
  private var backoff: RetryBackoff
  private var nextTry = 0.0
  private var span: RequestSpan
  /// The running transfer; nil if there is none.
  private var transfer: CurlTransfer?
  /// The present attempt, or the last one.
  var attempt: FetchAttempt

  /// Creates a downloader. Returns nil if there is not enough memory.
  init?(_ download: Download) {
    guard let multi = CurlMulti() else { return nil }
    let now = HostClock.seconds
    self.multi = multi
    (shared, signal) = (download.shared, download.signal)
    (timeouts, bounds) = (download.timeouts, download.bounds)
    address = RedirectedAddress(download.address)
    openingDeadline = now + timeouts.openTimeout
    backoff = RetryBackoff(timeouts)
    span = RequestSpan(first: bounds.firstRequest)
    attempt = FetchAttempt(
      start: nil, requestEnd: nil, watch: TransferWatch(timeouts, now: now, answerDeadline: now))
  }

  /// Downloads until the file is closed.
  func run() {
    while let task = shared.withLock({ $0.isStopped ? nil : $0.nextTask }) {
      // Both steps use the same time: if a retry is not due in `perform`, the wait below includes
      // it.
      let now = HostClock.seconds
      perform(task, now: now)
      if let end = multi.perform() {
        conclude(end)
      } else if let timeout = transfer == nil ? nil : attempt.watch.timeout(now: HostClock.seconds)
      {
        end()
        interrupted(by: timeout)
      } else {
        let next = transfer == nil ? nextTry : attempt.watch.nextCheckTime
        let rest = transfer == nil && next <= now ? .infinity : next - now
        multi.wait(min(rest, untilDeadline(now: now)), orFor: signal)
      }
    }
    end()
  }

  /// Returns the number of seconds until the deadline of the reader. After the deadline, wakes the
  /// reader.
  private func untilDeadline(now: Double) -> Double {
    guard let deadline = shared.withLock({ $0.soundDeadline })?.time else { return .infinity }
    if now >= deadline {
      shared.notifyAll()
      // A reader that is not blocked checks the deadline at its next read.
      return 1
    }
    return deadline - now
  }

  private func perform(_ task: FetchTask, now: Double) {
    switch task {
    case .proceed:
      guard shared.withLock({ $0.situation.isPaused }) else { return }
      proceed()
    case .pause: return
    case .rest: end()
    case .fetch(let offset):
      end()
      if now >= nextTry { begin(at: offset) }
    }
  }

  private func proceed() {
    let now = HostClock.seconds
    attempt.watch.proceed(now: now)
    shared.withLock { state in
      state.situation.isPaused = false
      state.meter.begin(now: now)
    }
    transfer?.resume()
  }

  private func begin(at offset: Int) {
    let now = HostClock.seconds
    var deadline = now + timeouts.responseTimeout
    if facts == nil { deadline = min(deadline, openingDeadline) }
    let start = asksForRanges && facts?.isLive != true && facts?.hasRanges != false ? offset : nil
    let range = start.map {
      RangeRequest(bytes: $0..<requestEnd(from: $0), validator: facts?.validator)
    }
    attempt = FetchAttempt(
      start: start, requestEnd: range?.bytes.upperBound,
      watch: TransferWatch(timeouts, now: now, answerDeadline: deadline))
    let lines = ["Accept-Encoding: identity", "Icy-MetaData: 1"] + (range?.lines ?? [])
    guard
      let transfer = CurlTransfer(
        address.current, lines: lines, timeouts: timeouts, bounds: bounds, receiver: self),
      multi.begin(transfer)
    else { return fail(.unreachable(address.original, "there is no memory left")) }
    shared.withLock { state in
      state.situation.transfer = offset
      state.situation.isPaused = false
      state.meter.begin(now: now)
    }
    self.transfer = transfer
  }

  /// Returns the end of the range to request from `start` on.
  private func requestEnd(from start: Int) -> Int {
    let readAhead = shared.withLock { $0.situation.bounds.readAhead }
    let end = span.next(from: start, bound: max(readAhead, Self.maximumRequestByteCount)).upperBound
    return min(end, facts?.byteCount ?? end)
  }

  /// The number of bytes below which an opening counts as failed.
  static let firstBytes = 4096

  /// The maximum size of a request in bytes, unless more bytes must be downloaded ahead.
  private static let maximumRequestByteCount = 1 << 20

  private func end() {
    guard transfer != nil else { return }
    multi.end()
    transfer = nil
    shared.withLock { state in
      state.situation.transfer = nil
      state.situation.isPaused = false
      state.meter.pause(now: HostClock.seconds)
    }
  }

  private func conclude(_ end: TransferEnd) {
    let offset = shared.withLock { $0.situation.transfer ?? 0 }
    self.end()
    if let refusal = attempt.refusal { return fail(refusal) }
    switch attempt.verdict {
    case .accept: concludeBody(end, at: offset)
    case .redirect(let reference): redirect(to: reference)
    case .withoutRange: asksForRanges = false
    case .later(let failure): retry(failure)
    case .fail(let failure): reject(failure)
    case nil: concludeWithoutAnswer(end)
    }
  }

  private func concludeBody(_ end: TransferEnd, at offset: Int) {
    guard end == .complete else {
      if case .broken(let reason) = end { return interrupted(reason) }
      return interrupted("the connection failed")
    }
    if facts?.isLive == true { return interrupted("the station stopped sending") }
    guard facts?.byteCount == nil else {
      let isWhole = shared.withLock { $0.nextTask == .rest || offset == $0.situation.end }
      let isPart = facts?.hasRanges == true && attempt.requestEnd.map { offset >= $0 } ?? false
      // Otherwise the server ended the response before the end of the request or the file.
      return isWhole || isPart ? backoff.reset() : interrupted("the server stopped sending")
    }
    shared.withLock { $0.situation.end = offset }
    shared.notifyAll()
  }

  private func concludeWithoutAnswer(_ end: TransferEnd) {
    switch end {
    case .noHost: unresolved("there is no such server, or no network")
    case .noProxy: unresolved("there is no such proxy, or no network")
    case .proxyRefused(let refusal): refused(by: refusal)
    case .unconnected(let reason):
      attempt.disconnection = reason
      interrupted(reason, isUnconnected: facts == nil)
    case .tooManyOpen:
      retry(.tooManyOpen(address.original.name), isUnconnected: facts == nil)
    case .untrusted(let reason): reject(.untrusted(address.current, reason))
    // On a reused connection, the server may have sent surplus bytes after the previous response.
    case .notHTTP where facts != nil: interrupted("the server sent what is not HTTP")
    case .notHTTP: reject(.notHTTP(address.current))
    case .badAddress: reject(.notAnAddress(address.current.name))
    // A server that has answered before may be restarting.
    case .noEncryption(let reason) where facts != nil: interrupted(reason)
    case .noEncryption(let reason): reject(.noEncryption(address.current, reason))
    case .headerTooLong: reject(.headerTooLong(address.current))
    case .broken(let reason): interrupted(reason)
    case .complete, .unwanted: interrupted("the server closed the connection")
    }
  }

  private func refused(by proxy: ProxyRefusal) {
    let failure = FileFailure.refusedByProxy(address.current, proxy)
    guard proxy.isTemporary else { return reject(failure) }
    let isUnreachable = proxy.kind == .hostUnreachable
    if isUnreachable { attempt.disconnection = "the proxy cannot reach it" }
    retry(failure, isUnconnected: isUnreachable && facts == nil)
  }

  private func unresolved(_ reason: String) {
    attempt.disconnection = reason
    let failure = FileFailure.unreachable(
      address.original, reason, connectingTo: address.current)
    facts == nil ? giveUp(failure) : retry(failure)
  }

  private func redirect(to reference: String) {
    do throws(FileFailure) {
      try address.follow(reference)
    } catch {
      reject(error)
    }
  }

  private func interrupted(by timeout: TransferWatch.Timeout) {
    switch timeout {
    case .noAnswer: interrupted("the server does not answer")
    case .stall: interrupted("no more bytes came")
    case .lowSpeed:
      // Such a low rate does not count as progress.
      attempt.newByteCount = 0
      interrupted("bytes came too slowly")
    }
  }

  private func interrupted(_ reason: String, isUnconnected: Bool = false) {
    let (offset, end) = shared.withLock { state in
      (state.cache.present.firstGap(from: state.situation.reader), state.cache.present.end)
    }
    retry(
      end >= Self.firstBytes
        ? .broken(address.original, at: offset, reason)
        : .unreachable(address.original, reason, connectingTo: address.current),
      isUnconnected: isUnconnected)
  }

  /// Schedules a retry, or gives up with `failure`. Gives up earlier if there was no connection.
  private func retry(_ failure: FileFailure, isUnconnected: Bool = false) {
    if attempt.newByteCount > 0 { backoff.reset() }
    let now = HostClock.seconds
    let hasBegun = shared.withLock { $0.cache.present.end >= Self.firstBytes }
    guard let pause = backoff.next(isUnconnected: isUnconnected),
      hasBegun || now + pause < openingDeadline
    else {
      return giveUp(failure, mayPass: true)
    }
    nextTry = now + pause
    address.reset()
  }

  /// Reports `failure`. First tries the original address once more if the file was redirected,
  /// because the target of the redirect may be outdated.
  private func reject(_ failure: FileFailure) {
    if facts != nil, address.mayBeOutdated {
      address.reset()
    } else {
      fail(failure)
    }
  }

  private func giveUp(_ failure: FileFailure, mayPass: Bool = false) {
    if facts == nil, let disconnection = attempt.disconnection {
      UnreachableServers.add(
        address.current, disconnection, for: timeouts.unreachableServerRetryDelay)
    }
    fail(failure, mayPass: mayPass)
  }

  private func fail(_ failure: FileFailure, mayPass: Bool = false) {
    shared.withLock { state in
      state.failure = failure
      state.failureMayPass = mayPass
    }
    backoff.reset()
    address.reset()
    shared.notifyAll()
  }
}
