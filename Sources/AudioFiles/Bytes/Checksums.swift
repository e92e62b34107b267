/// Cyclic redundancy checks that start at zero and process the highest bit of each byte first:
/// those of FLAC (RFC 9639, 9.1.8 and 9.3) and Ogg (RFC 3533, 6).
struct Checksum<Word: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  /// A lookup table: the register after each byte, starting from zero.
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
    // Words of 8 bits have no bits left to shift up.
    return (Word.bitWidth == 8 ? 0 : word << 8) ^ table[Int(index)]
  }

  // Tests call it from another module, which has no copy for their types.
  @_specialize(where Word == UInt32, Bytes == [UInt8])
  @_specialize(where Word == UInt32, Bytes == ArraySlice<UInt8>)
  func of<Bytes: Sequence<UInt8>>(_ bytes: Bytes) -> Word {
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

/// The checksum of FLAC frames (RFC 9639, 9.3) over all bytes so far, in a form that shows whether
/// the checksum of any stretch is zero: the marks at both ends of the stretch are then equal.
///
/// With W(e) the register after byte e, the stretch from a to e gives W(e) + W(a) x^(8(e - a)),
/// modulo the polynomial; this is zero if W(e) x^(-8e) = W(a) x^(-8a), because x has an inverse.
struct RunningChecksum {
  private static let polynomial: UInt16 = 0x8005
  /// A lookup table of the division by the eighth power of x, for each lowest byte.
  private static let division: [UInt16] = (0..<256).map { byte in
    var word = UInt16(byte)
    for _ in 0..<8 { word = dividedByX(word) }
    return word
  }

  private let checksum = Checksum.flacFrame
  private var register: UInt16 = 0
  /// x to the power of minus eight times the number of bytes.
  private var scale: UInt16 = 1

  /// The register, divided by x to the power of eight times the number of bytes.
  var mark: UInt16 { Self.product(register, scale) }

  @inline(__always) mutating func add(_ byte: UInt8) {
    register = checksum.adding(byte, to: register)
    scale = scale >> 8 ^ Self.division[Int(scale & 0xFF)]
  }

  private static func dividedByX(_ word: UInt16) -> UInt16 {
    // The constant term of the polynomial is 1, and its highest term is x^16.
    word & 1 == 0 ? word >> 1 : (word ^ polynomial) >> 1 | 0x8000
  }

  private static func product(_ one: UInt16, _ other: UInt16) -> UInt16 {
    var product: UInt16 = 0
    for bit in (0..<16).reversed() {
      let carries = product & 0x8000 != 0
      product = product << 1 ^ (carries ? polynomial : 0)
      if other >> bit & 1 != 0 { product ^= one }
    }
    return product
  }
}
