import Testing

@testable import AudioFiles

/// Tests of headers of files of more than 4 GiB, without their samples.
@Suite struct LongWaveTests {
  private func header(_ samples: FileSampleFormat, isAlwaysLong: Bool = false) -> WaveHeader {
    let format = WaveFormat(sampleFormat: samples, sampleRate: 48000, channelCount: 2)
    return WaveHeader(format: format, isAlwaysLong: isAlwaysLong)
  }

  private var notes: RecordingNotes {
    var notes = RecordingNotes(SoundFileTags())
    notes.markers = [SoundFileMarker(frame: 7, label: "seven")]
    return notes
  }

  /// The maximum number of sample bytes that a 32-bit length allows, for frames of four bytes.
  private static let maximum = (Int(UInt32.max) - 4088) / 4 * 4

  @Test(arguments: [0, 4, maximum])
  func `up to 4 GiB the header is WAV`(byteCount: Int) {
    let bytes = header(.s16).bytes(dataByteCount: byteCount, notes: notes)
    #expect(bytes.count == 4096)
    #expect(bytes.text(0, 4) == "RIFF")
    #expect(bytes.number(4, 4) == UInt64(byteCount + 4088))
    #expect(bytes.text(12, 4) == "JUNK")
    #expect(bytes.number(4092, 4) == UInt64(byteCount))
    #expect(WaveChunks(bytes).markers.map(\.frame) == [7])
  }

  @Test(arguments: [(maximum + 4, false), (5 << 30, false), (0, true)])
  func `above 4 GiB the header is RF64 and nothing has moved`(byteCount: Int, isAlwaysLong: Bool) {
    for samples in [FileSampleFormat.s16, .float] {
      let header = header(samples, isAlwaysLong: isAlwaysLong)
      let bytes = header.bytes(dataByteCount: byteCount, notes: notes)
      #expect(bytes.count == 4096)
      #expect(bytes.text(0, 4) == "RF64")
      #expect(bytes.number(4, 4) == UInt64(UInt32.max))
      #expect(bytes.text(12, 4) == "ds64")
      #expect(bytes.number(20, 8) == UInt64(byteCount + 4088))
      #expect(bytes.number(28, 8) == UInt64(byteCount))
      #expect(bytes.number(36, 8) == UInt64(byteCount / header.format.frameByteCount))
      #expect(bytes.text(4088, 4) == "data")
      #expect(bytes.number(4092, 4) == UInt64(UInt32.max))
      #expect(WaveChunks(bytes).markers.map(\.frame) == [7])
    }
  }

  @Test func `markers after the samples also make the header RF64`() {
    let header = header(.s16)
    let short = header.bytes(dataByteCount: Self.maximum, notes: notes, trailerByteCount: 0)
    let long = header.bytes(dataByteCount: Self.maximum, notes: notes, trailerByteCount: 100)
    #expect(short.text(0, 4) == "RIFF")
    #expect(long.text(0, 4) == "RF64")
    #expect(long.number(20, 8) == UInt64(Self.maximum + 4088 + 100))
  }

  @Test(arguments: [FileSampleFormat.s16, .s24, .float], [false, true])
  func `a resized header equals a new header of that length`(
    samples: FileSampleFormat, isAlwaysLong: Bool
  ) {
    let header = header(samples, isAlwaysLong: isAlwaysLong)
    let frame = header.format.frameByteCount
    var bytes = header.bytes(dataByteCount: 0, notes: notes)
    var remade = 0
    for frames in [1, 3, 48_000, 1 << 29, (1 << 32) / frame, 1 << 33, 1 << 34] {
      let wanted = header.bytes(dataByteCount: frames * frame, notes: notes)
      if header.resize(&bytes, dataByteCount: frames * frame) {
        #expect(bytes == wanted)
      } else {
        remade += 1
        bytes = wanted
      }
    }
    // The header is rewritten once, when the format becomes RF64.
    #expect(remade == (isAlwaysLong ? 0 : 1))
    var nothing: [UInt8] = []
    #expect(!header.resize(&nothing, dataByteCount: 4))
  }

  @Test(arguments: [(FileSampleFormat.s16, 80), (.float, 94)])
  func `the header on a pipe is short`(samples: FileSampleFormat, byteCount: Int) {
    let bytes = header(samples).streamed
    #expect(bytes.count == byteCount)
    #expect(bytes.number(4, 4) == UInt64(UInt32.max))
    #expect(bytes.text(byteCount - 8, 4) == "data")
    #expect(bytes.number(byteCount - 4, 4) == UInt64(UInt32.max))
  }

  @Test func `a marker whose frame cannot be stored is left out`() {
    let markers = [-1, 5, 1 << 32].map { SoundFileMarker(frame: $0, label: "x") }
    let chunks = MarkerChunks(markers, room: .max)
    #expect(!chunks.isCut)
    #expect(chunks.bytes.number(8, 4) == 1)
  }

  @Test func `a text is never truncated within a character`() {
    #expect("añb".bytes(atMost: 2) == [0x61])
    #expect("a\0b".bytes(atMost: 9) == [0x61, 0x62])
    #expect("".bytes(atMost: 0) == [])
  }
}
