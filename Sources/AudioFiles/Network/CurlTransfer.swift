import CCurl
import Glibc
import RealtimeAudio

/// The receiver of a transfer's header and body. Called on the thread that runs the transfer.
protocol TransferReceiver: AnyObject {
  /// Returns whether the body of the response with this header should be received.
  func wants(_ header: ResponseHeader) -> Bool
  /// Reports that the header exceeds the length limit.
  func headerIsTooLong()
  /// Receives bytes of the body. After a pause, the same bytes are delivered again.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Reception
}

/// The result of a receiver for bytes of the body.
enum Reception {
  case taken
  case pause
  case refused
}

/// One request and its response. The transfer is destroyed when this object is released.
final class CurlTransfer {
  fileprivate let pointer: OpaquePointer
  private let context: UnsafeMutablePointer<Context>
  /// The variable that names the proxy; nil if there is no proxy.
  fileprivate let proxy: String?

  /// Creates a GET request for `address` with additional header `lines`. `receiver` must outlive
  /// the transfer. Returns nil if there is not enough memory.
  init?(
    _ address: WebAddress, lines: [String], timeouts: RemoteFileTimeouts,
    bounds: RemoteFileBounds, receiver: any TransferReceiver
  ) {
    let context = UnsafeMutablePointer<Context>.allocate(capacity: 1)
    context.initialize(to: Context(receiver: receiver))
    let texts = lines.map { strdup($0) }
    defer { for text in texts { free(text) } }
    let created = texts.map { UnsafePointer($0) }.withUnsafeBufferPointer { texts in
      ccurl_transfer_create(
        address.text, texts.baseAddress, Int32(texts.count),
        Int(clamping: timeouts.connectTimeout * 1000),
        Int32(bounds.receiveBuffer), receiveHeader, receiveBody, context)
    }
    guard let created else {
      context.deinitialize(count: 1)
      context.deallocate()
      return nil
    }
    pointer = created
    self.context = context
    proxy = ProxyVariable.name(for: address)
    let certificates = CertificateVariables.current
    ccurl_transfer_trust(created, certificates.file, certificates.folder)
  }

  deinit {
    ccurl_transfer_destroy(pointer)
    context.deinitialize(count: 1)
    context.deallocate()
  }

  /// Continues after a pause. May call the receiver.
  func resume() {
    ccurl_transfer_resume(pointer)
  }

  /// The reason why the transfer did not complete, in words.
  var reason: String {
    var words = String(cString: ccurl_transfer_reason(pointer))
    while words.last == "." || words.last?.isWhitespace == true { words.removeLast() }
    return words
  }

  /// The HTTP status with which a proxy answered to the request for a connection.
  fileprivate var proxyStatus: Int { ccurl_transfer_proxy_status(pointer) }

  /// The state of the callbacks.
  fileprivate struct Context {
    unowned let receiver: any TransferReceiver
    var header = ResponseHeader()
    var headerByteCount = 0
    var isAnswered = false
  }
}

private let maximumHeaderByteCount = 64 << 10

private func receiveHeader(
  _ bytes: UnsafePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Bool {
  guard let context = context?.assumingMemoryBound(to: CurlTransfer.Context.self) else {
    return false
  }
  // Ignore the trailer lines after a chunked body.
  if context.pointee.isAnswered { return true }
  context.pointee.headerByteCount += count
  guard context.pointee.headerByteCount <= maximumHeaderByteCount else {
    context.pointee.receiver.headerIsTooLong()
    return false
  }
  let raw = UnsafeRawBufferPointer(start: bytes, count: count)
  let line = String(fromNetwork: raw.prefix { $0 != 10 && $0 != 13 })
  guard line.isEmpty else {
    context.pointee.header.add(line)
    return true
  }
  let header = context.pointee.header
  if (100..<200).contains(header.status) { return true }
  context.pointee.isAnswered = true
  return context.pointee.receiver.wants(header)
}

private func receiveBody(
  _ bytes: UnsafePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> ccurl_reception {
  guard let context = context?.assumingMemoryBound(to: CurlTransfer.Context.self) else {
    return ccurl_refused
  }
  switch context.pointee.receiver.receive(UnsafeRawBufferPointer(start: bytes, count: count)) {
  case .taken: return ccurl_taken
  case .pause: return ccurl_pause
  case .refused: return ccurl_refused
  }
}

/// A curl multi handle that runs transfers, one at a time, and keeps the connection open for the
/// next one.
final class CurlMulti {
  private let pointer: OpaquePointer
  private var transfer: CurlTransfer?

  /// Creates the handle. Returns nil if there is not enough memory.
  init?() {
    guard let created = ccurl_multi_create() else { return nil }
    pointer = created
  }

  deinit {
    end()
    ccurl_multi_destroy(pointer)
  }

  /// Starts a transfer in place of the running one. Returns false if there is not enough memory.
  func begin(_ transfer: CurlTransfer) -> Bool {
    end()
    guard ccurl_multi_add(pointer, transfer.pointer) != 0 else { return false }
    self.transfer = transfer
    return true
  }

  /// Ends the transfer, whether or not it is complete.
  func end() {
    guard let transfer else { return }
    ccurl_multi_remove(pointer, transfer.pointer)
    self.transfer = nil
  }

  /// Does all work that is possible without blocking. Returns the outcome once the transfer has
  /// ended; nil while it is running, or if there is none.
  func perform() -> TransferEnd? {
    guard let transfer else { return nil }
    let outcome = ccurl_multi_perform(pointer, transfer.pointer)
    if FileDescriptor.areExhausted(for: Self.descriptorCount(behind: outcome)) {
      return .tooManyOpen
    }
    switch outcome {
    case ccurl_still_running: return nil
    case ccurl_complete: return .complete
    case ccurl_aborted: return .unwanted
    case ccurl_no_host: return .noHost
    case ccurl_no_proxy: return .noProxy
    case ccurl_proxy_refused: return .proxyRefused(ProxyRefusal(status: transfer.proxyStatus))
    case ccurl_socks_unreachable: return .proxyRefused(ProxyRefusal(.hostUnreachable))
    case ccurl_socks_user_rejected: return .proxyRefused(ProxyRefusal(.userRejected))
    case ccurl_socks_refused: return .proxyRefused(ProxyRefusal(.other))
    case ccurl_socks_closed: return .broken("the proxy closed the connection")
    case ccurl_untrusted: return .untrusted(transfer.reason)
    case ccurl_not_http: return .notHTTP
    case ccurl_bad_address: return .badAddress
    case ccurl_no_encryption:
      // OpenSSL and GnuTLS write names of functions and codes before the last colon.
      let reason = transfer.reason.split(separator: ":").last.map { String($0).trimmed }
      return .noEncryption(reason ?? transfer.reason)
    case ccurl_header_too_long: return .headerTooLong
    case ccurl_timed_out: return .unconnected("no connection in time")
    case ccurl_connection_closed:
      let peer = transfer.proxy == nil ? "the server" : "the proxy or the server"
      return .broken("\(peer) closed the connection")
    case ccurl_no_connection:
      return .unconnected(
        transfer.proxy.map { "the proxy in \($0) does not answer" } ?? "nothing answers there")
    default: return .broken(transfer.reason)
    }
  }

  /// Returns how many files, sockets and pipes libcurl opens, and has closed again, in a step that
  /// has failed; 0 if the step opens none. libcurl does not report that it could not open them.
  private static func descriptorCount(behind outcome: ccurl_outcome) -> Int {
    switch outcome {
    // A pair of sockets for the thread that looks the name up; its list of servers; a socket.
    case ccurl_no_host, ccurl_no_proxy: 4
    case ccurl_no_connection: 1
    // The socket, and the file of certificates.
    case ccurl_untrusted: 2
    default: 0
    }
  }

  /// Waits until the transfer can make progress, `signal` is sent, or `seconds` have passed.
  func wait(_ seconds: Double, orFor signal: WakeSignal) {
    let milliseconds = min(max(seconds * 1000, 0), 60_000).rounded(.up)
    ccurl_multi_wait(pointer, signal.descriptor, Int32(clamping: milliseconds))
    signal.clear()
  }
}

/// The outcome of a transfer.
enum TransferEnd: Equatable {
  case complete
  /// The receiver refused the rest.
  case unwanted
  case noHost
  case noProxy
  /// The proxy answered, and did not connect to the server.
  case proxyRefused(ProxyRefusal)
  /// No connection could be made.
  case unconnected(String)
  /// Too many files are open for a connection.
  case tooManyOpen
  case untrusted(String)
  case notHTTP
  case badAddress
  /// The server offers no encryption that this machine accepts.
  case noEncryption(String)
  case headerTooLong
  case broken(String)
}

/// The libcurl library, which is loaded when the first address is used.
enum CurlLibrary {
  private static let isLoaded = MutexBox(false)

  /// Loads libcurl on the first call. Throws `.cannotOpen` if it is not installed, or if too many
  /// files are open.
  static func load() throws(FileFailure) {
    let isLoaded = isLoaded.withLock { isLoaded in
      isLoaded = isLoaded || ccurl_load()
      return isLoaded
    }
    guard isLoaded else {
      if FileDescriptor.areExhausted(for: 1) { throw .tooManyOpen("The network") }
      throw FileFailure(
        .cannotOpen, "Sound cannot be fetched from the network: there is no libcurl.",
        hint: "Install it: sudo apt install libcurl4")
    }
  }
}
