/// Addresses of files on this machine: `file:///music/My%20song.flac` (RFC 8089).
public enum FileAddress {
  /// The path in `address`; nil where that is no address of a file here. What follows a `#` stays.
  public static func path(of address: String) -> String? {
    let scheme = "file://"
    guard address.prefix(scheme.count).lowercased() == scheme else { return nil }
    var rest = address.dropFirst(scheme.count)
    let local = "localhost/"
    if rest.prefix(local.count).lowercased() == local { rest = rest.dropFirst(local.count - 1) }
    guard rest.hasPrefix("/") else { return nil }
    return decoded(rest)
  }

  /// Without percent signs for bytes; a sign that is followed by no two digits stays. nil where a byte
  /// is 0, which no path can hold.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = FileName.bytes(of: String(text))[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isDigit),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        guard value != 0 else { return nil }
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return FileName.text(of: bytes)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    Character(Unicode.Scalar(byte)).isHexDigit
  }
}
