import CCurl
import Glibc
import RealtimeAudio

/// A web address with the scheme `http:` or `https:`.
struct WebAddress: Equatable, Sendable {
  /// The whole address.
  let text: String
  /// The address without the user name and password.
  private let publicText: String
  /// The same for messages. If a server wrote the address, the middle of a long one is left out.
  var name: String { isRedirected ? publicText.excerpt : publicText }
  /// Whether a server wrote the address.
  private var isRedirected = false

  static func == (one: WebAddress, other: WebAddress) -> Bool { one.text == other.text }

  let path: String
  let isEncrypted: Bool

  /// Parses `text`. libcurl must be loaded. Throws `.cannotOpen`.
  init(_ text: String) throws(FileFailure) {
    let text = Self.escaped(text)
    guard let scheme = Self.text(ccurl_address_scheme(text)),
      let name = Self.text(ccurl_address_without_user(text))
    else {
      throw .notAnAddress(FileName.withoutUser(text))
    }
    guard scheme == "http" || scheme == "https" else {
      throw FileFailure(
        .cannotOpen, "\(name) cannot be fetched: only http and https can.",
        hint: "Give an address that begins with http:// or https://.")
    }
    self.text = text
    publicText = name
    path = Self.text(ccurl_address_path(text)) ?? "/"
    isEncrypted = scheme == "https"
  }

  /// The scheme, host and port: `http://example.org:8000`.
  var server: Substring {
    let scheme = isEncrypted ? 8 : 7
    return publicText.prefix(scheme)
      + publicText.dropFirst(scheme).prefix { !"/?#".contains($0) }
  }

  /// The name or number of the server: `example.org`, `::1`.
  var host: Substring {
    let authority = server.drop { $0 != ":" }.dropFirst(3)
    guard authority.first != "[" else { return authority.dropFirst().prefix { $0 != "]" } }
    return authority.prefix { $0 != ":" }
  }

  /// Returns the target of a redirect from this address to `reference`. Throws `.cannotOpen`.
  func redirected(to reference: String) throws(FileFailure) -> WebAddress {
    guard let joined = joined(to: reference) else {
      throw FileFailure(
        .cannotOpen,
        "\(name) redirects to an invalid address: \(FileName.withoutUser(reference).excerpt).",
        hint: "Open the address in a browser, and give the one of the file itself.")
    }
    var target: WebAddress
    do throws(FileFailure) {
      target = try WebAddress(joined)
      target.isRedirected = true
    } catch {
      throw FileFailure(
        .cannotOpen,
        "\(name) redirects to \(FileName.withoutUser(joined).excerpt), which is not on the web.",
        hint: "Open the address in a browser, and give the one of the file itself.")
    }
    guard target.isEncrypted || !isEncrypted else {
      throw FileFailure(
        .cannotOpen, "\(name) redirects from https to http, which is not encrypted.",
        hint: "Give \(target.name) itself if you trust the network.")
    }
    return target
  }

  /// Whether the address contains a user name.
  var hasUser: Bool { text != publicText }

  /// Resolves `reference` against this address. Returns nil if the result is not a valid address.
  func joined(to reference: String) -> String? {
    Self.text(ccurl_address_join(text, Self.escaped(reference)))
  }

  /// Whether the path has the extension of an audio file or a playlist.
  var looksLikeSound: Bool {
    let ending = FileName.ending(of: path)
    return PathExtension.isSound(ending) || PathExtension.playlists.contains(ending)
  }

  /// Returns `text` with spaces, control characters and non-ASCII characters percent-encoded.
  /// Pasted addresses may contain them.
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte > 0x20 && byte < 0x7F {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Converts a C string and frees its memory. Returns nil if `memory` is nil.
  private static func text(_ memory: UnsafeMutablePointer<CChar>?) -> String? {
    guard let memory else { return nil }
    defer { free(memory) }
    return String(cString: memory)
  }
}

/// The failures of network access, with messages for the user.
extension FileFailure {
  /// Returns the failure for an address that cannot be parsed.
  static func notAnAddress(_ name: String) -> FileFailure {
    FileFailure(
      .cannotOpen, "\(name) is not an address.",
      hint: "Write it as a browser shows it: http://example.org/song.flac")
  }

  /// Returns the failure for an error status of the server.
  static func refused(_ address: WebAddress, _ status: Int) -> FileFailure {
    switch status {
    case 407 where ProxyVariable.isAnswering(address):
      return refusedByProxy(address, ProxyRefusal(status: status))
    case 401, 403:
      return FileFailure(
        .permissionDenied, "The server does not let you read \(address.name) (HTTP \(status)).",
        hint: address.hasUser
          ? "Check the name and password in the address, and whether that user may read it."
          : "Put your name and password in the address: https://name:password@host/…")
    case 404, 410:
      return FileFailure(
        .cannotOpen, "There is no \(address.name) (HTTP \(status)).",
        hint: "Check the address in a browser.")
    case 429, 500...599:
      return FileFailure(
        .cannotOpen, "The server of \(address.name) cannot answer now (HTTP \(status)).",
        hint: "Try again later.")
    case 200..<300, 304:
      return FileFailure(
        .cannotOpen, "The server of \(address.name) answers without the file (HTTP \(status)).",
        hint: "Check the address in a browser.")
    case 300..<400:
      return FileFailure(
        .cannotOpen,
        "The server of \(address.name) redirects, but not to another address (HTTP \(status)).",
        hint: "Open the address in a browser, and give the one of the file itself.")
    default:
      return FileFailure(
        .cannotOpen, "The server refuses \(address.name) (HTTP \(status)).",
        hint: "Check the address in a browser.")
    }
  }

  /// The failure in the form for a file that is not open yet: `.readFailed` becomes `.cannotOpen`.
  var whileOpening: FileFailure {
    kind == .readFailed ? FileFailure(.cannotOpen, message, hint: hint) : self
  }

  /// Returns the failure for an opening that was cancelled.
  static func cancelled(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .readFailed, "Opening \(address.name) was cancelled.", hint: "Open it again.")
  }

  /// Returns the failure for more redirects than the limit.
  static func redirectsWithoutEnd(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .cannotOpen, "\(address.name) redirects too many times.",
      hint: "Open the address in a browser, and give the one of the file itself.")
  }

  /// Returns the failure for a proxy that does not pass the request on.
  static func refusedByProxy(_ address: WebAddress, _ refusal: ProxyRefusal) -> FileFailure {
    let variable =
      ProxyVariable.name(for: address) ?? (address.isEncrypted ? "https_proxy" : "http_proxy")
    let status = refusal.status.map { " (HTTP \($0))" } ?? ""
    let sentence = "The proxy does not pass the request for \(address.name) on\(status)."
    switch refusal.kind {
    case .hostUnreachable:
      // SOCKS proxies report their own failures with the same answer.
      let place =
        refusal.status == nil ? "the address, and the proxy in \(variable)" : "the address"
      return FileFailure(
        .cannotOpen, "The proxy cannot reach \(address.host)\(status).",
        hint: "Check \(place), and try again later.")
    case .userRejected:
      let scheme = refusal.status == nil ? "socks5h" : "http"
      return FileFailure(
        .permissionDenied, sentence,
        hint: "Put your name and password for the proxy in \(variable): "
          + "\(scheme)://name:password@host:port")
    case .other:
      return FileFailure(
        .cannotOpen, sentence,
        hint: "Check the proxy in \(variable), or except the server with no_proxy.")
    }
  }

  /// Returns the failure for a body that is not audio.
  static func wrongType(_ address: WebAddress, _ type: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(address.name) is not sound: the server says it is \(type.excerpt).",
      hint: "Give the address of the sound file itself, not of a page about it.")
  }

  /// Returns the failure for a body that is compressed.
  static func packed(_ address: WebAddress, _ encoding: String) -> FileFailure {
    FileFailure(
      .unusableContents,
      "\(address.name) is sent compressed (\(encoding.excerpt)), which was not asked for.",
      hint: "Download it with a browser, and play the file.")
  }

  /// Returns the failure for a server that does not use HTTP.
  static func notHTTP(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .unusableContents, "The server at \(address.name) does not use HTTP.",
      hint: "Check the address and its port.")
  }

  /// Returns the failure for a header that exceeds the length limit.
  static func headerTooLong(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .unusableContents, "The server of \(address.name) sends a header of more than 64 KiB.",
      hint: "Check the address in a browser.")
  }

  /// Returns the failure for a certificate that is not trusted.
  static func untrusted(_ address: WebAddress, _ reason: String) -> FileFailure {
    FileFailure(
      .cannotOpen, "The server of \(address.name) cannot prove its identity: \(reason).",
      hint: "Check the address, the clock of this machine, and "
        + (CertificateVariables.current.place.map { "the certificates in \($0)." }
          ?? "its package ca-certificates."))
  }

  /// Returns the failure for a server that offers no encryption that this machine accepts, in words
  /// of the TLS library.
  static func noEncryption(_ address: WebAddress, _ reason: String) -> FileFailure {
    FileFailure(
      .cannotOpen,
      "\(address.name) cannot be reached: its server offers no encryption that is accepted here "
        + "(\(reason)).",
      hint: "Check the address and its port; a server without encryption needs http://.")
  }

  /// Returns the failure to connect, or to receive the first bytes. `reason` is part of a sentence.
  /// `target` is the address to which `address` has redirected; nil if it has not.
  static func unreachable(
    _ address: WebAddress, _ reason: String, connectingTo target: WebAddress? = nil
  ) -> FileFailure {
    FileFailure(
      .cannotOpen, "\(address.name) cannot be reached: \(reason).",
      hint: ProxyVariable.name(for: target ?? address).map {
        "Check the address, this machine's connection, and the proxy in \($0)."
      } ?? "Check the address, and this machine's connection.")
  }

  /// Returns the failure to find audio in the received bytes before the deadline.
  static func noSoundInTime(_ name: String) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) sent no sound in time.",
      hint: "Check the address in a browser; a slow connection may do better later.")
  }

  /// Returns the failure to receive the next audio before the deadline.
  static func noMoreSound(_ name: String) -> FileFailure {
    FileFailure(
      .readFailed, "\(name) sends almost no sound any more.",
      hint: "Check this machine's connection, and play it again.")
  }

  /// Returns the failure for a connection that broke permanently. `reason` is part of a sentence.
  static func broken(_ address: WebAddress, at offset: Int, _ reason: String) -> FileFailure {
    FileFailure(
      .readFailed, "\(address.name) broke off at byte \(offset): \(reason).",
      hint: "Check this machine's connection, and play it again.")
  }

  /// Returns the failure for a file on the server that differs from the one that was opened.
  static func changed(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .readFailed, "\(address.name) has changed on the server while it was read.",
      hint: "Play it again from the beginning.")
  }

  /// Returns the failure for a response that cannot be verified to belong to the opened file.
  static func notResumable(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .readFailed,
      "\(address.name) broke off, and its server does not support resuming.",
      hint: "Play it again from the beginning.")
  }

  /// Returns the failure for a response with another range than requested.
  static func wrongRange(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .readFailed, "The server of \(address.name) sends another part than the one asked for.",
      hint: "Download the whole file with a browser, and play that.")
  }

  /// Returns the failure for a file that is shorter than the server reported.
  static func tooShort(_ address: WebAddress) -> FileFailure {
    FileFailure(
      .readFailed, "\(address.name) is shorter than its server says.",
      hint: "Download the file with a browser, and see whether it is complete.")
  }

  /// Returns the failure for a read of earlier bytes from a server that does not support ranges.
  static func gone(_ name: String) -> FileFailure {
    FileFailure(
      .readFailed,
      "\(name) cannot be read again from an earlier position: its server allows no seeking.",
      hint: "Play it again from the beginning.")
  }

  /// Returns the failure to write to the cache or to read from it.
  static func cache(_ name: String, _ error: SystemError) -> FileFailure {
    FileFailure(
      error.isFullDisk ? .diskFull : .readFailed,
      "\(name) cannot be kept on disk while it is read: \(error.reason).",
      hint: "Make room, or name another folder in XDG_CACHE_HOME.")
  }
}

/// The servers to which a recent connection failed. Without this list, each file of a playlist on
/// such a server would wait for a timeout.
enum UnreachableServers {
  private struct FailedConnection: Sendable {
    let reason: String
    /// The end of the waiting time in seconds of the host clock.
    let end: Double
  }

  private static let failedConnections = MutexBox<[Substring: FailedConnection]>([:])

  /// Prevents connections to the server of `address` for `seconds`. `reason` is part of a sentence.
  static func add(_ address: WebAddress, _ reason: String, for seconds: Double) {
    let now = HostClock.seconds
    let failedConnection = FailedConnection(reason: reason, end: now + seconds)
    failedConnections.withLock { failedConnections in
      failedConnections = failedConnections.filter { $0.value.end > now }
      failedConnections[address.server] = failedConnection
    }
  }

  /// Throws `.cannotOpen` if connections to the server of `address` are prevented.
  static func check(_ address: WebAddress) throws(FileFailure) {
    let reason: String? = failedConnections.withLock { failedConnections in
      guard let failedConnection = failedConnections[address.server],
        failedConnection.end > HostClock.seconds
      else {
        return nil
      }
      return failedConnection.reason
    }
    if let reason { throw .unreachable(address, reason) }
  }
}
