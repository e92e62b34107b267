extension Collection<UInt8> {
  /// The number in the first four bytes, with seven bits each and the highest first, as in ID3.
  var syncSafeNumber: Int { prefix(4).reduce(0) { $0 << 7 | Int($1 & 0x7F) } }
}

/// Reading and writing of whole numbers in the bytes of a header.
extension [UInt8] {
  /// Returns the number in the `count` bytes from `index` on; nil if the bytes end before.
  func number(at index: Int, _ count: Int, bigEndian: Bool) -> UInt64? {
    guard index >= 0, index + count <= self.count else { return nil }
    var number: UInt64 = 0
    for step in 0..<count {
      number = number << 8 | UInt64(self[bigEndian ? index + step : index + count - 1 - step])
    }
    return number
  }

  /// Returns the number in `count` bytes, at most 4, from `index` on; nil if the bytes end before.
  func integer(at index: Int, _ count: Int, bigEndian: Bool) -> Int? {
    number(at: index, count, bigEndian: bigEndian).map { Int($0) }
  }

  /// Creates the lowest `count` bytes of `number`.
  init(_ number: Int, _ count: Int, bigEndian: Bool) {
    let bits = UInt64(bitPattern: Int64(number))
    let places = bigEndian ? Array<Int>((0..<count).reversed()) : Array<Int>(0..<count)
    self = places.map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
  }

  /// Returns four bytes as text, such as `fmt `; nil if they are not printable characters.
  func identifier(at index: Int) -> String? {
    guard index >= 0, index + 4 <= count else { return nil }
    let letters = self[index..<index + 4]
    guard letters.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 }) else { return nil }
    return String(letters.map { Character(Unicode.Scalar($0)) })
  }
}
