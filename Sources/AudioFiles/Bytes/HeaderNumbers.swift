/// What the chunk `fmt ` of WAV or Wave64 says.
struct WaveFormatChunk {
  /// The format's tag; where that is extensible, the one that stands for the samples.
  let kind: Int
  let channelCount: Int
  let sampleRate: Int
  /// Bytes of a frame, or of a block of several.
  let blockByteCount: Int
  /// 0 where the chunk ends before.
  let bitsPerSample: Int

  /// nil where it ends too early.
  init?(_ body: [UInt8]) {
    guard let tag = body.integer(at: 0, 2, bigEndian: false),
      let channels = body.integer(at: 2, 2, bigEndian: false),
      let rate = body.integer(at: 4, 4, bigEndian: false),
      let block = body.integer(at: 12, 2, bigEndian: false)
    else { return nil }
    kind = tag == 0xFFFE ? body.integer(at: 24, 2, bigEndian: false) ?? 1 : tag
    channelCount = channels
    sampleRate = rate
    blockByteCount = block
    bitsPerSample = body.integer(at: 14, 2, bigEndian: false) ?? 0
  }
}

/// Whole numbers in the bytes of a header.
extension [UInt8] {
  /// The number in `count` bytes from `index` on; nil where the bytes end before.
  func number(at index: Int, _ count: Int, bigEndian: Bool) -> UInt64? {
    guard index >= 0, index + count <= self.count else { return nil }
    var number: UInt64 = 0
    for step in 0..<count {
      number = number << 8 | UInt64(self[bigEndian ? index + step : index + count - 1 - step])
    }
    return number
  }

  /// A small number, in `count` bytes at most 4.
  func integer(at index: Int, _ count: Int, bigEndian: Bool) -> Int? {
    number(at: index, count, bigEndian: bigEndian).map { Int($0) }
  }

  /// `number` in its lowest `count` bytes.
  init(_ number: Int, _ count: Int, bigEndian: Bool) {
    let bits = UInt64(bitPattern: Int64(number))
    let places = bigEndian ? Array<Int>((0..<count).reversed()) : Array<Int>(0..<count)
    self = places.map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
  }

  /// The text of four bytes, such as `fmt `; nil where they are no printable letters.
  func identifier(at index: Int) -> String? {
    guard index >= 0, index + 4 <= count else { return nil }
    let letters = self[index..<index + 4]
    guard letters.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0xA9 }) else { return nil }
    return String(letters.map { Character(Unicode.Scalar($0)) })
  }
}
