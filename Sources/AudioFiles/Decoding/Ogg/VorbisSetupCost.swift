/// The memory that libvorbis allocates for a setup header (Vorbis I specification, 4.2.4). A
/// damaged header is counted up to the damage, where libvorbis stops reading as well.
struct VorbisSetupCost {
  /// The number of values in the code books: the sum of entries times dimensions.
  private(set) var valueCount = 0
  /// The number of bytes kept for each known stream, whether it is played or not.
  private(set) var keptByteCount = 0
  private var bits: LowBits

  /// The sizes of the structures of libvorbis in bytes.
  private enum Size {
    static let book = 128
    static let floor = 1200
    static let residue = 2900
    static let mapping = 3300
  }

  init(_ header: [UInt8], maximumValues: Int) {
    bits = LowBits(header, from: 7)
    guard skipBooks(maximumValues), skipTimes(), skipFloors(), skipResidues() else { return }
    keptByteCount += Size.mapping * ((bits.take(6) ?? 0) + 1)
  }

  /// Skips the code books (section 3.2.1).
  private mutating func skipBooks(_ maximumValues: Int) -> Bool {
    guard let last = bits.take(8) else { return false }
    for _ in 0...last {
      guard bits.take(24) == 0x564342, let dimensions = bits.take(16),
        let entries = bits.take(24)
      else { return false }
      valueCount += entries * max(1, dimensions)
      keptByteCount += Size.book + entries
      guard valueCount <= maximumValues, skipLengths(entries), skipValues(entries, dimensions)
      else {
        return false
      }
    }
    return true
  }

  private mutating func skipTimes() -> Bool {
    bits.take(6).map { bits.skip(16 * ($0 + 1)) } ?? false
  }

  /// Skips the floors (sections 6.2.1 and 7.2.2).
  private mutating func skipFloors() -> Bool {
    guard let last = bits.take(6) else { return false }
    for _ in 0...last {
      keptByteCount += Size.floor
      let isSkipped =
        switch bits.take(16) {
        case 0: bits.skip(54) && bits.take(4).map { bits.skip(8 * ($0 + 1)) } ?? false
        case 1: skipFloor1()
        default: false
        }
      guard isSkipped else { return false }
    }
    return true
  }

  private mutating func skipFloor1() -> Bool {
    guard let partitions = bits.take(5) else { return false }
    var classes: [Int] = []
    for _ in 0..<partitions { classes.append(bits.take(4) ?? 0) }
    var dimensions: [Int] = []
    for _ in 0..<(classes.max() ?? -1) + 1 {
      guard let dimension = bits.take(3), let subclasses = bits.take(2),
        bits.skip((subclasses > 0 ? 8 : 0) + (8 << subclasses))
      else { return false }
      dimensions.append(dimension + 1)
    }
    guard bits.take(2) != nil, let width = bits.take(4) else { return false }
    return bits.skip(classes.reduce(0) { $0 + dimensions[$1] } * width)
  }

  /// Skips the residues (section 8.6.1).
  private mutating func skipResidues() -> Bool {
    guard let last = bits.take(6) else { return false }
    for _ in 0...last {
      keptByteCount += Size.residue
      guard bits.skip(16 + 3 * 24), let classes = bits.take(6), bits.skip(8) else { return false }
      var books = 0
      for _ in 0...classes {
        guard let low = bits.take(3), let hasMore = bits.take(1),
          let high = hasMore == 1 ? bits.take(5) : 0
        else { return false }
        books += low.nonzeroBitCount + high.nonzeroBitCount
      }
      guard bits.skip(8 * books) else { return false }
    }
    return true
  }

  private mutating func skipLengths(_ entries: Int) -> Bool {
    guard let isOrdered = bits.take(1) else { return false }
    if isOrdered == 1 {
      guard bits.take(5) != nil else { return false }
      var entry = 0
      while entry < entries {
        guard let count = bits.take(Self.bitCount(entries - entry)) else { return false }
        // A count of 0 makes no progress, but uses up bits of the header, so the loop ends.
        entry += count
      }
      return entry == entries
    }
    guard let isSparse = bits.take(1) else { return false }
    for _ in 0..<entries {
      guard let isUsed = isSparse == 1 ? bits.take(1) : 1 else { return false }
      if isUsed == 1, bits.take(5) == nil { return false }
    }
    return true
  }

  private mutating func skipValues(_ entries: Int, _ dimensions: Int) -> Bool {
    guard let type = bits.take(4) else { return false }
    if type == 0 { return true }
    guard type <= 2, bits.take(32) != nil, bits.take(32) != nil, let width = bits.take(4),
      bits.take(1) != nil
    else { return false }
    let count = type == 1 ? Self.root(entries, dimensions) : entries * dimensions
    keptByteCount += 8 * count
    return bits.skip(count * (width + 1))
  }

  /// Returns the function `ilog` of the specification.
  private static func bitCount(_ value: Int) -> Int { Int.bitWidth - value.leadingZeroBitCount }

  /// Returns the function `lookup1_values` of the specification: the greatest number whose power
  /// does not exceed `entries`.
  private static func root(_ entries: Int, _ dimensions: Int) -> Int {
    guard dimensions > 0 else { return 0 }
    var root = 0
    while power(root + 1, dimensions, isWithin: entries) { root += 1 }
    return root
  }

  private static func power(_ base: Int, _ exponent: Int, isWithin maximum: Int) -> Bool {
    guard base > 1 else { return base <= maximum }
    var power = 1
    for _ in 0..<exponent {
      power *= base
      if power > maximum { return false }
    }
    return true
  }
}

/// A reader of numbers whose lowest bit comes first (Vorbis I specification, 2).
private struct LowBits {
  private let bytes: [UInt8]
  private var offset: Int

  init(_ bytes: [UInt8], from byte: Int) {
    self.bytes = bytes
    offset = 8 * byte
  }

  /// Returns the next number of `count` bits, at most 32; nil after the end.
  mutating func take(_ count: Int) -> Int? {
    let start = offset
    guard skip(count) else { return nil }
    var value = 0
    var done = 0
    while done < count {
      let bit = (start + done) & 7
      let width = min(8 - bit, count - done)
      let part = Int(bytes[(start + done) >> 3]) >> bit & (1 << width - 1)
      value |= part << done
      done += width
    }
    return value
  }

  /// Skips `count` bits. Returns false if the data ends before.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= 8 * bytes.count - offset else { return false }
    offset += count
    return true
  }
}
