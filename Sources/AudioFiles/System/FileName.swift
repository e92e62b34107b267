import Glibc

/// File names, which are bytes for the kernel, as text without loss of any byte. Any thread but the
/// audio thread.
///
/// UTF-8 becomes text as usual. A byte that is not part of valid UTF-8 becomes one of 128 private
/// scalars, U+EF80 to U+EFFF (the range that MirBSD's OPTU encoding uses). If a name contains one
/// of these scalars itself, its three bytes are encoded in the same way. So every name can be
/// restored exactly: `text(of:)` converts names where they enter, and `bytes(of:)` where the kernel
/// is called (`FileSystem`).
package enum FileName {
  private static let escapes: ClosedRange<UInt32> = 0xEF80...0xEFFF

  /// Returns the text of a name.
  package static func text(of bytes: some Collection<UInt8>) -> String {
    let plain = String(validating: bytes, as: UTF8.self)
    if let plain, !holdsEscapes(plain) { return plain }
    var text = String.UnicodeScalarView()
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      var parser = Unicode.UTF8.ForwardParser()
      var iterator = rest.makeIterator()
      var escaped = 1
      if case .valid(let encoded) = parser.parseScalar(from: &iterator) {
        let scalar = UTF8.decode(encoded)
        escaped = escapes.contains(scalar.value) ? encoded.count : 0
        if escaped == 0 {
          text.append(scalar)
          rest = rest.dropFirst(encoded.count)
        }
      }
      for byte in rest.prefix(escaped) {
        // Every byte that is not a character by itself is 0x80 or above.
        if let scalar = Unicode.Scalar(0xEF00 + UInt32(byte)) { text.append(scalar) }
      }
      rest = rest.dropFirst(escaped)
    }
    return String(text)
  }

  /// Returns the bytes of a name.
  package static func bytes(of text: String) -> [UInt8] {
    guard holdsEscapes(text) else { return Array(text.utf8) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        bytes += Array(String(scalar).utf8)
      }
    }
    return bytes
  }

  /// Returns `text` for display and for tags: U+FFFD replaces each byte that is not part of UTF-8.
  package static func shown(_ text: String) -> String {
    guard holdsEscapes(text) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      shown.append(escapes.contains(scalar.value) ? "\u{FFFD}" : scalar)
    }
    return String(shown)
  }

  /// Returns whether a name is an address, such as `http://example.org/a.flac`.
  static func isAddress(_ name: String) -> Bool {
    guard let colon = name.firstIndex(of: ":") else { return false }
    return name[colon...].hasPrefix("://")
  }

  /// Returns whether a name begins like a web address, but without two slashes:
  /// `http:/example.org/a.flac`, `https:\\example.org`.
  static func isMistypedAddress(_ name: String) -> Bool {
    startsLikeWebAddress(name) && !isAddress(name)
  }

  private static func startsLikeWebAddress(_ name: String) -> Bool {
    guard let colon = name.firstIndex(of: ":") else { return false }
    return ["http", "https"].contains(name[..<colon].lowercased())
  }

  /// Returns `name` for messages: an address without its user name and password, even if it could
  /// not be fetched or is mistyped; any other name unchanged.
  package static func withoutUser(_ name: String) -> String {
    let isWeb = startsLikeWebAddress(name)
    guard isWeb || isAddress(name), let colon = name.firstIndex(of: ":") else { return name }
    let rest = name[colon...].dropFirst()
    let start = (isWeb ? rest : rest.prefix(2)).prefix { $0 == "/" || $0 == "\\" }.endIndex
    var host = name[start...].prefix { !"/\\?#".contains($0) }
    // If the port would not be a number, the text before one of these signs is a user name.
    if !host.contains("@"), !host.hasPrefix("["), let port = host.lastIndex(of: ":"),
      !host[host.index(after: port)...].allSatisfy(\.isWholeNumber)
    {
      host = name[start...]
    }
    guard let at = host.lastIndex(of: "@") else { return name }
    return String(name[..<start] + name[name.index(after: at)...])
  }

  /// Returns the value of the environment variable `name`; nil if it is not set.
  package static func variable(_ name: String) -> String? {
    getenv(name).map { text(ofCString: $0) }
  }

  static func text(ofCString string: UnsafePointer<CChar>) -> String {
    text(of: UnsafeRawBufferPointer(start: string, count: strlen(string)))
  }

  private static func holdsEscapes(_ text: String) -> Bool {
    // The first byte of these scalars is rare: most names are scanned once, byte by byte.
    text.utf8.contains(0xEE) && text.unicodeScalars.contains { escapes.contains($0.value) }
  }
}

/// The parts of a path. They are found by bytes: a slash followed by a combining accent is a
/// different `Character`, but for the kernel it is still a slash.
extension FileName {
  /// Returns the folder that contains `path`.
  package static func folder(of path: String) -> String {
    let start = nameStart(of: path)
    guard start > path.startIndex else { return "." }
    let slash = path.utf8.index(before: start)
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Returns the text after the last slash.
  package static func last(of path: String) -> Substring { path[nameStart(of: path)...] }

  /// Returns the text after the last dot of the last name, in lower case; empty if there is no dot,
  /// or only one at the beginning.
  package static func ending(of path: String) -> String {
    guard let dot = dot(of: path) else { return "" }
    return path[path.utf8.index(after: dot)...].lowercased()
  }

  /// Returns `path` with `text` inserted before the ending: `take.wav` and `-2` make `take-2.wav`.
  /// The name is shortened if it would be longer than file names may be, because a recording must
  /// not end because of the number in its name.
  package static func insert(_ text: String, into path: String) -> String {
    let (start, end) = (nameStart(of: path), dot(of: path) ?? path.endIndex)
    var (stem, ending) = (path[start..<end], path[end...])
    var excess = bytes(of: String(path[start...])).count + text.utf8.count - Int(NAME_MAX)
    // Whole characters are removed, so that text remains valid.
    while excess > 0, let last = stem.popLast() ?? ending.popLast() {
      excess -= bytes(of: String(last)).count
    }
    return String(path[..<start]) + stem + text + ending
  }

  /// Returns the path of the file `name` in `folder`.
  package static func join(_ folder: String, _ name: String) -> String {
    folder.utf8.last == UInt8(ascii: "/") ? folder + name : "\(folder)/\(name)"
  }

  private static func nameStart(of path: String) -> String.Index {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
      ?? path.startIndex
  }

  private static func dot(of path: String) -> String.Index? {
    let start = nameStart(of: path)
    guard let dot = path.utf8[start...].lastIndex(of: UInt8(ascii: ".")), dot > start else {
      return nil
    }
    return dot
  }
}

/// Many file names in little memory: their bytes are stored one after the other.
package struct NameList: Sendable {
  private struct TextRange {
    let block: UInt32
    let start: UInt32
    let byteCount: UInt32
  }

  private static let blockByteCount = 1 << 16

  private var blocks: [[UInt8]] = []
  private var places: [TextRange] = []
  /// The number of bytes of all names that were not removed.
  package private(set) var byteCount = 0
  private var takenCount = 0

  /// Creates an empty list.
  package init() {}

  /// The number of names that were added.
  package var count: Int { places.count }

  /// The name with this number. A name that was removed is empty.
  package subscript(index: Int) -> String {
    let place = places[index]
    let block = blocks[Int(place.block)]
    guard !block.isEmpty else { return "" }
    return FileName.text(of: block[Int(place.start)..<Int(place.start + place.byteCount)])
  }

  /// Adds `name` at the end.
  package mutating func append(_ name: String) { append(FileName.bytes(of: name)) }

  mutating func append(_ name: some Collection<UInt8>) {
    // An empty name needs a block as well.
    if blocks.last.map({ $0.count + name.count > Self.blockByteCount }) ?? true {
      var block: [UInt8] = []
      block.reserveCapacity(max(Self.blockByteCount, name.count))
      blocks.append(block)
    }
    let last = blocks.count - 1
    places.append(
      TextRange(
        block: UInt32(clamping: last), start: UInt32(clamping: blocks[last].count),
        byteCount: UInt32(clamping: name.count)))
    blocks[last] += name
    byteCount += name.count
  }

  /// Removes and returns the first remaining name, and frees its memory; nil if there is none.
  mutating func takeFirst() -> String? {
    guard takenCount < places.count else { return nil }
    let name = self[takenCount]
    let place = places[takenCount]
    takenCount += 1
    byteCount -= Int(place.byteCount)
    // The names in a block are stored one after the other.
    if takenCount == places.count || places[takenCount].block != place.block {
      blocks[Int(place.block)] = []
    }
    return name
  }

  /// The numbers of the names, in an order in which consecutive digits count as one number:
  /// `take-2` before `take-10`.
  var naturallySortedIndices: [Int] {
    places.indices.sorted { Self.naturallyPrecedes(bytes(at: $0), bytes(at: $1)) }
  }

  private static func naturallyPrecedes(
    _ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>
  ) -> Bool {
    var (rest, otherRest) = (one, other)
    while let byte = rest.first, let otherByte = otherRest.first {
      if isDigit(byte), isDigit(otherByte) {
        let (number, otherNumber) = (takeNumber(&rest), takeNumber(&otherRest))
        if number.count != otherNumber.count { return number.count < otherNumber.count }
        if number != otherNumber { return number.lexicographicallyPrecedes(otherNumber) }
      } else {
        guard byte == otherByte else { return byte < otherByte }
        rest.removeFirst()
        otherRest.removeFirst()
      }
    }
    // The names differ only in the zeros before a number.
    guard rest.isEmpty, otherRest.isEmpty else { return rest.isEmpty }
    return one.lexicographicallyPrecedes(other)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Removes the digits at the beginning of `bytes`; returns them without leading zeros.
  private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = bytes.prefix(while: isDigit)
    bytes = bytes.dropFirst(digits.count)
    return digits.drop { $0 == UInt8(ascii: "0") }
  }

  private func bytes(at index: Int) -> ArraySlice<UInt8> {
    let place = places[index]
    return blocks[Int(place.block)][Int(place.start)..<Int(place.start + place.byteCount)]
  }
}
