/// The environment variables with which libcurl chooses a proxy.
enum ProxyVariable {
  /// Returns the variable that names the proxy for `address`; nil if none does.
  static func name(for address: WebAddress) -> String? {
    name(isEncrypted: address.isEncrypted, host: address.host, FileName.variable)
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
    let host = host.lowercased()
    let isException = exceptions.lowercased().split { $0 == "," || $0 == " " }.contains { pattern in
      let suffix = pattern.drop { $0 == "." }
      return pattern == "*" || host == suffix || host.hasSuffix(".\(suffix)")
    }
    return isException ? nil : name
  }
}
