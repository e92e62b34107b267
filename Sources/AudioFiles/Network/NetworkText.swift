/// Text as it comes from a network.
extension String {
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
