/// Cyclic redundancy checks that begin with zero and take each byte's highest bit first: those of
/// FLAC (RFC 9639, 9.1.8 and 9.3) and Ogg (RFC 3533, 6).
struct Checksum<Word: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  /// What each byte does to an empty register.
  let table: [Word]

  init(polynomial: Word) {
    table = (0..<256).map { byte in
      var word = Word(byte) << (Word.bitWidth - 8)
      for _ in 0..<8 {
        let carries = word.leadingZeroBitCount == 0
        word = (word << 1) ^ (carries ? polynomial : 0)
      }
      return word
    }
  }

  @inline(__always) func adding(_ byte: UInt8, to word: Word) -> Word {
    let index = UInt8(truncatingIfNeeded: word >> (Word.bitWidth - 8)) ^ byte
    // Words of 8 bits have nothing left to move up.
    return (Word.bitWidth == 8 ? 0 : word << 8) ^ table[Int(index)]
  }

  func of(_ bytes: some Sequence<UInt8>) -> Word {
    var word: Word = 0
    for byte in bytes { word = adding(byte, to: word) }
    return word
  }
}

extension Checksum<UInt8> {
  static let flacHeader = Checksum(polynomial: 0x07)
}

extension Checksum<UInt16> {
  static let flacFrame = Checksum(polynomial: 0x8005)
}

extension Checksum<UInt32> {
  static let oggPage = Checksum(polynomial: 0x04C1_1DB7)
}
