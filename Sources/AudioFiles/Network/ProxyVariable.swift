import Glibc

/// The environment variables with which libcurl chooses a proxy.
enum ProxyVariable {
  /// Returns the variable that names the proxy for `address`; nil if none does.
  static func name(for address: WebAddress) -> String? {
    name(isEncrypted: address.isEncrypted, host: address.host, FileName.variable)
  }

  /// Returns whether a proxy answers to the HTTP requests for `address`. Otherwise the server does:
  /// SOCKS proxies and encrypted connections pass all bytes on.
  static func isAnswering(_ address: WebAddress) -> Bool {
    guard !address.isEncrypted, let value = name(for: address).flatMap(FileName.variable) else {
      return false
    }
    return !value.lowercased().hasPrefix("socks")
  }

  /// Returns the variable that names the proxy for a server. `value` returns the value of a
  /// variable.
  static func name(
    isEncrypted: Bool, host: Substring, _ value: (String) -> String?
  ) -> String? {
    func isSet(_ name: String) -> Bool { value(name)?.isEmpty == false }
    // HTTP_PROXY is not used: a web server sets it to a header line of a request.
    let own = isEncrypted ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    guard let name = (own + ["all_proxy", "ALL_PROXY"]).first(where: isSet) else { return nil }
    let exceptions = ["no_proxy", "NO_PROXY"].first(where: isSet).flatMap(value) ?? ""
    return isException(host.lowercased(), exceptions.lowercased()) ? nil : name
  }

  /// Returns whether `exceptions`, the value of no_proxy, contains the server `host`.
  private static func isException(_ host: String, _ exceptions: String) -> Bool {
    if exceptions == "*" { return true }
    let patterns = exceptions.split { [",", " ", "\t"].contains($0) }
    if let number = number(host.prefix { $0 != "%" }) {
      return patterns.contains { contains($0, number) }
    }
    let host = withoutDot(host[...])
    return patterns.contains { pattern in
      var suffix = withoutDot(pattern)
      if suffix.first == "." { suffix.removeFirst() }
      return host == suffix || host.hasSuffix(".\(suffix)")
    }
  }

  /// Returns `name` without the dot after a fully qualified name.
  private static func withoutDot(_ name: Substring) -> Substring {
    name.last == "." ? name.dropLast() : name
  }

  /// Returns whether `network`, an IP address or a CIDR block, contains the IP address `number`.
  private static func contains(_ network: Substring, _ number: [UInt8]) -> Bool {
    let parts = network.split(separator: "/", maxSplits: 1)
    guard let first = parts.first, let base = Self.number(first), base.count == number.count else {
      return false
    }
    let bitCount = number.count * 8
    var length = parts.count == 1 ? bitCount : Int(parts[1]) ?? 0
    // libcurl takes the length 0 as the whole address.
    if length == 0 { length = bitCount }
    guard (1...bitCount).contains(length) else { return false }
    return (0..<length).allSatisfy { bit in
      (base[bit / 8] ^ number[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
    }
  }

  /// Returns the bytes of the IP address `text`; nil if it is none.
  private static func number(_ text: Substring) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, String(text), &bytes) == 1 { return Array(bytes.prefix(4)) }
    return inet_pton(AF_INET6, String(text), &bytes) == 1 ? bytes : nil
  }
}

/// The answer of a proxy that does not connect to the server.
struct ProxyRefusal: Equatable {
  /// The cause.
  enum Kind {
    /// The proxy cannot reach the server, or there is no such server.
    case hostUnreachable
    /// The proxy requires another user name or password.
    case userRejected
    case other
  }

  let kind: Kind
  /// The HTTP status of the answer; nil for a SOCKS proxy.
  let status: Int?

  /// Creates the refusal of a SOCKS proxy.
  init(_ kind: Kind) {
    self.kind = kind
    status = nil
  }

  /// Creates the refusal of a proxy that answered with this HTTP status.
  init(status: Int) {
    self.status = status
    kind =
      switch status {
      case 407: .userRejected
      case 502, 503, 504: .hostUnreachable
      default: .other
      }
  }

  /// Whether a later request may succeed.
  var isTemporary: Bool {
    switch status {
    case nil: kind == .hostUnreachable
    case 408, 425, 429, .some(500...599): true
    default: false
    }
  }
}
