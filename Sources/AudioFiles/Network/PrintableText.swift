/// Text from a network, which may be meant to harm a terminal.
extension String {
  /// Without control characters, and not endless.
  var printable: String {
    var text = ""
    for scalar in unicodeScalars.prefix(512) {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // These turn the direction of what follows.
      let turns =
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
      text.unicodeScalars.append(isControl || turns ? "?" : scalar)
    }
    return text
  }

  /// What `bytes` say: UTF-8 where they are, else Latin-1.
  init(fromNetwork bytes: some Collection<UInt8>) {
    if let text = String(validating: bytes, as: UTF8.self) {
      self = text
    } else {
      self.init()
      for byte in bytes { unicodeScalars.append(Unicode.Scalar(byte)) }
    }
  }

  /// Without blanks at both ends.
  var trimmed: String {
    var text = self[...]
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
