import CCurl
import Glibc

/// Receiver of a transfer's header and body. On the thread that carries the transfer.
protocol TransferReceiver: AnyObject {
  /// Whether the body of the response with this header is wanted.
  func wants(_ header: ResponseHeader) -> Bool
  /// The header is longer than any that is honest.
  func headerIsTooLong()
  /// Bytes of the body. After a pause the same ones come again.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Reception
}

/// Answer of a receiver to bytes of the body.
enum Reception {
  case taken
  case pause
  case refused
}

/// One request and its response, until it goes out of scope.
final class CurlTransfer {
  fileprivate let pointer: OpaquePointer
  private let context: UnsafeMutablePointer<Context>

  /// A GET of `address` with further `lines` in its header. `receiver` outlives it. nil without
  /// memory.
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
        Int(clamping: timeouts.connecting * 1000),
        Int32(bounds.receiveBuffer), receiveHeader, receiveBody, context)
    }
    guard let created else {
      context.deinitialize(count: 1)
      context.deallocate()
      return nil
    }
    pointer = created
    self.context = context
  }

  deinit {
    ccurl_transfer_destroy(pointer)
    context.deinitialize(count: 1)
    context.deallocate()
  }

  /// Goes on after a pause; may call the receiver.
  func resume() {
    ccurl_transfer_resume(pointer)
  }

  /// In words, why it did not complete.
  var reason: String {
    var words = String(cString: ccurl_transfer_reason(pointer))
    while words.last == "." || words.last?.isWhitespace == true { words.removeLast() }
    return words
  }

  /// State of the callbacks.
  fileprivate struct Context {
    unowned let receiver: any TransferReceiver
    var header = ResponseHeader()
    var headerByteCount = 0
    var isAnswered = false
  }
}

private let longestHeader = 64 << 10

private func receiveHeader(
  _ bytes: UnsafePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Bool {
  guard let context = context?.assumingMemoryBound(to: CurlTransfer.Context.self) else {
    return false
  }
  // Lines behind a chunked body.
  if context.pointee.isAnswered { return true }
  context.pointee.headerByteCount += count
  guard context.pointee.headerByteCount <= longestHeader else {
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

/// Carries transfers on, one at a time, and keeps the connection for the next.
final class CurlMulti {
  private let pointer: OpaquePointer
  private var transfer: CurlTransfer?

  /// nil without memory.
  init?() {
    guard let created = ccurl_carrier_create() else { return nil }
    pointer = created
  }

  deinit {
    end()
    ccurl_carrier_destroy(pointer)
  }

  /// Begins a transfer in place of the one that runs; false without memory.
  func begin(_ transfer: CurlTransfer) -> Bool {
    end()
    guard ccurl_carrier_add(pointer, transfer.pointer) != 0 else { return false }
    self.transfer = transfer
    return true
  }

  /// Ends the transfer, complete or not.
  func end() {
    guard let transfer else { return }
    ccurl_carrier_remove(pointer, transfer.pointer)
    self.transfer = nil
  }

  /// Does what can be done without waiting; says how the transfer ended, once.
  func perform() -> TransferEnd? {
    guard let transfer else { return nil }
    switch ccurl_carrier_perform(pointer, transfer.pointer) {
    case ccurl_still_running: return nil
    case ccurl_complete: return .complete
    case ccurl_unwanted: return .unwanted
    case ccurl_no_host: return .noHost
    case ccurl_untrusted: return .untrusted(transfer.reason)
    case ccurl_not_http: return .notHTTP
    case ccurl_bad_address: return .badAddress(transfer.reason)
    case ccurl_timed_out: return .unconnected("no connection in time")
    case ccurl_cut: return .broken("the server closed the connection")
    case ccurl_no_connection: return .unconnected("nothing answers there")
    default: return .broken(transfer.reason)
    }
  }

  /// Waits until something can be done, `signal` comes, or `seconds` are over.
  func wait(_ seconds: Double, orFor signal: WakeSignal) {
    let milliseconds = min(max(seconds * 1000, 0), 60_000).rounded(.up)
    ccurl_carrier_wait(pointer, signal.descriptor, Int32(clamping: milliseconds))
    signal.clear()
  }
}

/// Outcome of a transfer.
enum TransferEnd: Equatable {
  case complete
  /// The receiver did not want more.
  case unwanted
  case noHost
  /// No connection came about.
  case unconnected(String)
  case untrusted(String)
  case notHTTP
  case badAddress(String)
  case broken(String)
}

/// libcurl, in memory from the first address on.
enum CurlLibrary {
  private static let isLoaded = ccurl_load()

  /// Loads it the first time. Throws `.cannotOpen` where it is not installed.
  static func load() throws(FileFailure) {
    guard isLoaded else {
      throw FileFailure(
        .cannotOpen, "Sound cannot be fetched from the network: there is no libcurl.",
        hint: "Install it: sudo apt install libcurl4")
    }
  }
}
