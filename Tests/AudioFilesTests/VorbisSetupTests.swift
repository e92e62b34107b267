import AudioBasics
import TemporaryFolders
import TestSources
import Testing

@testable import AudioFiles

/// Tests of setup headers of Vorbis streams whose tables would exceed the limit for libvorbis.
@Suite struct VorbisSetupTests {
  @Test(arguments: [8000, 48000, 192_000], [1, 2, 6])
  func `headers of the encoder are accepted`(sampleRate: Int, channels: Int) throws {
    let folder = TemporaryFolder()
    try save(
      glide(frames: 20_000, channels: channels), to: folder("v"), .ogg, .float,
      sampleRate: sampleRate)
    #expect(try load(folder("v")).count == 20_000 * channels)
  }

  @Test func `three hundred streams in sequence are accepted`() throws {
    let pages = try pages()
    let bytes = (1...300).flatMap { serial in
      pages.indices.flatMap {
        page(
          pages[$0].body, flags: $0 == 0 ? 2 : 0, number: $0, serial, lengths: pages[$0].lengths)
      }
    }
    let check = OggHeaderCheck()
    check.keepsAll = true
    #expect(bytes.withUnsafeBytes { check.accepts($0) })
  }

  @Test func `more streams than can be indexed are played in sequence`() throws {
    let folder = TemporaryFolder()
    try save(glide(frames: 100, channels: 1), to: folder("v"), .ogg, .float, sampleRate: 8000)
    let whole = folder.bytes(of: "v")
    let count = 3000
    var chain: [UInt8] = []
    for serial in 1...count {
      var rest = whole[...]
      while !rest.isEmpty {
        let lengths = rest.dropFirst(27).prefix(Int(rest[rest.startIndex + 26]))
        let length = lengths.reduce(27 + lengths.count) { $0 + Int($1) }
        var page = Array(rest.prefix(length))
        page.replaceSubrange(14..<18, with: [UInt8](serial, 4, bigEndian: false))
        page.replaceSubrange(22..<26, with: [0, 0, 0, 0])
        let sum = Int(Checksum.oggPage.of(page))
        page.replaceSubrange(22..<26, with: [UInt8](sum, 4, bigEndian: false))
        chain += page
        rest = rest.dropFirst(length)
      }
    }
    let decoder = try Decoding.decoder(for: MemorySource(chain))
    #expect(!decoder.supportsSeeking && decoder.frameCount == nil)
    #expect(try decode(decoder).count == 100 * count)
  }

  @Test(arguments: [true, false])
  func `comments of more than 12 MiB are refused with a message`(isSeekable: Bool) throws {
    let first = try pages()[0].body
    var bytes = page(first, flags: 2, number: 0, 1)
    let piece = [UInt8](repeating: 65, count: 255 * 255)
    for number in 1...200 {
      let body = number == 1 ? [3] + Array("vorbis".utf8) + piece.dropLast(7) : piece
      bytes += page(body, flags: number > 1 ? 1 : 0, number: number, 1, isWhole: false)
    }
    let trouble = failure {
      _ = try Decoding.decoder(for: MemorySource(bytes, isSeekable: isSeekable))
    }
    #expect(trouble?.message.hasSuffix("has comments of more than 12 MiB.") == true)
  }

  @Test(arguments: [1, 8, 256], [true, false])
  func `code books of millions of entries are refused before libvorbis reads them`(
    books: Int, isSeekable: Bool
  ) throws {
    let source = MemorySource(try hostile(books: books), isSeekable: isSeekable)
    let trouble = failure { _ = try Decoding.decoder(for: source) }
    #expect(trouble?.message.contains("larger Vorbis code books") == true)
  }

  @Test func `large code books after a damaged page are refused`() throws {
    let bytes = Array("OggS".utf8) + [UInt8](repeating: 0, count: 40) + (try hostile(books: 8))
    let trouble = failure { _ = try Decoding.decoder(for: MemorySource(bytes)) }
    #expect(trouble?.message.contains("larger Vorbis code books") == true)
  }

  @Test func `a lack of memory is not reported as damage`() {
    let failure = FileFailure.oggHeaders("a.ogg", .memory)
    #expect(failure.kind == .cannotOpen && failure.message.contains("memory"))
  }

  /// Returns the first page of a real file, and a setup header with `books` codebooks, 255 bytes
  /// per page.
  private func hostile(books: Int) throws -> [UInt8] {
    let first = try pages()[0].body
    var bits = Bits()
    bits.add(books - 1, 8)
    let entries = 1 << 23 - 1
    for _ in 0..<books {
      for (value, width) in [(0x564342, 24), (1, 16), (entries, 24), (1, 1), (23, 5)] {
        bits.add(value, width)
      }
      // All entries have one of two lengths.
      bits.add(1 << 22, 23)
      bits.add(entries - 1 << 22, 22)
      bits.add(0, 4)
    }
    let comment = [3] + Array("vorbis".utf8) + [UInt8](repeating: 0, count: 8) + [1]
    let setup = [5] + Array("vorbis".utf8) + bits.bytes
    var bytes = page(first, flags: 2, number: 0, 1) + page(comment, flags: 0, number: 1, 1)
    var number = 2
    var rest = setup[...]
    while rest.count > 255 {
      bytes += page(
        Array(rest.prefix(255)), flags: number > 2 ? 1 : 0, number: number, 1, isWhole: false)
      rest = rest.dropFirst(255)
      number += 1
    }
    return bytes + page(Array(rest), flags: number > 2 ? 1 : 0, number: number, 1)
  }

  /// Returns the pages of a file that the encoder wrote: their bodies and segment lengths.
  private func pages() throws -> [(body: [UInt8], lengths: [UInt8])] {
    let folder = TemporaryFolder()
    try save(glide(frames: 2000, channels: 2), to: folder("v"), .ogg, .float)
    let bytes = folder.bytes(of: "v")
    var pages: [(body: [UInt8], lengths: [UInt8])] = []
    var place = 0
    while place < bytes.count {
      let lengths = Array(bytes[place + 27..<place + 27 + Int(bytes[place + 26])])
      let start = place + 27 + lengths.count
      place = start + lengths.reduce(0) { $0 + Int($1) }
      pages.append((Array(bytes[start..<place]), lengths))
    }
    return pages
  }

  /// Returns a page with one packet or a part of it, or with several packets if their lengths are
  /// given.
  private func page(
    _ body: [UInt8], flags: UInt8, number: Int, _ serial: Int, isWhole: Bool = true,
    lengths given: [UInt8]? = nil
  ) -> [UInt8] {
    var lengths = given ?? [UInt8](repeating: 255, count: body.count / 255)
    if isWhole, given == nil { lengths.append(UInt8(body.count % 255)) }
    var page = Array("OggS".utf8) + [0, flags] + [UInt8](repeating: 0, count: 8)
    page += [UInt8](serial, 4, bigEndian: false) + [UInt8](number, 4, bigEndian: false)
    page += [0, 0, 0, 0, UInt8(lengths.count)] + lengths + body
    let sum = Int(Checksum.oggPage.of(page))
    page.replaceSubrange(22..<26, with: [UInt8](sum, 4, bigEndian: false))
    return page
  }
}

/// A writer of numbers into bytes, lowest bit first.
private struct Bits {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  mutating func add(_ value: Int, _ width: Int) {
    for bit in 0..<width {
      if count & 7 == 0 { bytes.append(0) }
      bytes[count >> 3] |= UInt8(value >> bit & 1) << (count & 7)
      count += 1
    }
  }
}
