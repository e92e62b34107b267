/// Many names of files in little memory: their bytes one after the other.
public struct NameList: Sendable {
  private struct Place {
    let block: UInt32
    let start: UInt32
    let byteCount: UInt32
  }

  private static let blockByteCount = 1 << 16

  private var blocks: [[UInt8]] = []
  private var places: [Place] = []
  /// Bytes of all names that were not taken out.
  public private(set) var byteCount = 0
  private var takenCount = 0

  /// A list of nothing.
  public init() {}

  /// Names that were added.
  public var count: Int { places.count }

  /// The name with this number. One that was taken out is empty.
  public subscript(index: Int) -> String {
    let place = places[index]
    let block = blocks[Int(place.block)]
    guard !block.isEmpty else { return "" }
    return FileName.text(of: block[Int(place.start)..<Int(place.start + place.byteCount)])
  }

  /// Adds `name` behind the others.
  public mutating func append(_ name: String) { append(FileName.bytes(of: name)) }

  mutating func append(_ name: some Collection<UInt8>) {
    // An empty name needs a block as well.
    if blocks.last.map({ $0.count + name.count > Self.blockByteCount }) ?? true {
      var block: [UInt8] = []
      block.reserveCapacity(max(Self.blockByteCount, name.count))
      blocks.append(block)
    }
    let last = blocks.count - 1
    places.append(
      Place(
        block: UInt32(clamping: last), start: UInt32(clamping: blocks[last].count),
        byteCount: UInt32(clamping: name.count)))
    blocks[last] += name
    byteCount += name.count
  }

  /// Takes out the first name that is left, and frees what it took; nil where none is.
  mutating func takeFirst() -> String? {
    guard takenCount < places.count else { return nil }
    let name = self[takenCount]
    let place = places[takenCount]
    takenCount += 1
    byteCount -= Int(place.byteCount)
    // The names of a block lie in it one after the other.
    if takenCount == places.count || places[takenCount].block != place.block {
      blocks[Int(place.block)] = []
    }
    return name
  }

  /// The numbers of the names, in the order of their bytes.
  var sortedIndices: [Int] {
    places.indices.sorted { bytes(at: $0).lexicographicallyPrecedes(bytes(at: $1)) }
  }

  private func bytes(at index: Int) -> ArraySlice<UInt8> {
    let place = places[index]
    return blocks[Int(place.block)][Int(place.start)..<Int(place.start + place.byteCount)]
  }
}
