import AudioBasics
import Testing

@Suite struct SampleFormatTests {
  @Test(arguments: SampleFormat.allCases)
  func `a format is found by its ALSA name in either case`(format: SampleFormat) {
    #expect(SampleFormat(name: format.name) == format)
    #expect(SampleFormat(name: format.name.lowercased()) == format)
  }

  @Test func `a name that ALSA does not know is refused`() {
    #expect(SampleFormat(name: "S17_LE") == nil)
  }
}
