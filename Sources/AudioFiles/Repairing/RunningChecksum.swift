/// The checksum of FLAC frames (RFC 9639, 9.3) of all bytes so far, in a form that tells of any stretch
/// whether it comes out as nothing: its marks at both ends are equal then.
///
/// With W(e) the register behind byte e, the stretch from a to e leaves W(e) + W(a) x^(8(e - a)), modulo
/// the polynomial; that is zero where W(e) x^(-8e) = W(a) x^(-8a), for x has an inverse.
struct RunningChecksum {
  private static let polynomial: UInt16 = 0x8005
  /// What each lowest byte does when eight powers of x are divided off.
  private static let division: [UInt16] = (0..<256).map { byte in
    var word = UInt16(byte)
    for _ in 0..<8 { word = dividedByX(word) }
    return word
  }

  private let checksum = Checksum.flacFrame
  private var register: UInt16 = 0
  /// x to the power of minus eight times the number of bytes.
  private var scale: UInt16 = 1

  /// The register, brought back to the beginning.
  var mark: UInt16 { Self.product(register, scale) }

  @inline(__always) mutating func add(_ byte: UInt8) {
    register = checksum.adding(byte, to: register)
    scale = scale >> 8 ^ Self.division[Int(scale & 0xFF)]
  }

  private static func dividedByX(_ word: UInt16) -> UInt16 {
    // The polynomial's constant term is 1, its highest is x^16.
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
