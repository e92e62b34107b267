import AudioBasics
import Testing

@Suite struct SampleFormatTests {
  @Test(arguments: SampleFormat.allCases)
  func `a format is found by its ALSA name in either case`(format: SampleFormat) {
    #expect(SampleFormat(name: format.name) == format)
    #expect(SampleFormat(name: format.name.lowercased()) == format)
  }

  @Test(arguments: [
    ("s16", SampleFormat.s16LE), ("S16", .s16LE), ("s16le", .s16LE), ("s16be", .s16BE),
    ("s24", .s24LE), ("s24_32le", .s24LE), ("s24-32be", .s24BE), ("s24le", .s24Packed3LE),
    ("S24BE", .s24Packed3BE), ("s24_3le", .s24Packed3LE), ("s32le", .s32LE), ("s32be", .s32BE),
    ("float", .floatLE), ("f32", .floatLE), ("f32le", .floatLE), ("F32BE", .floatBE),
    ("float32le", .floatLE), ("float32be", .floatBE),
  ])
  func `a format is found by the name that other programs use for it`(
    name: String, format: SampleFormat
  ) {
    #expect(SampleFormat(name: name) == format)
  }

  @Test func `a name that ALSA does not know is refused`() {
    #expect(SampleFormat(name: "S17_LE") == nil)
  }
}
