import AudioBasics
import TemporaryFolders
import Testing

@testable import AudioFiles

@Suite struct SpeakerTests {
  private func speakers(of speakers: [Speaker]?, channels: Int) throws -> [Speaker]? {
    let folder = TemporaryFolder()
    let path = folder("a.wav")
    var writer = try SoundFileWriter(
      path: path, fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: channels,
      overwrite: false, speakers: speakers)
    try writer.write(SampleBuffer(frameCount: 10, channelCount: channels), frames: 10)
    try writer.finish()
    return try Decoding.decoder(forPath: path).speakers
  }

  @Test func `channels without positions are assigned to no particular speaker`() throws {
    let found = try speakers(of: nil, channels: 6)
    #expect(found == [Speaker](repeating: .other, count: 6))
  }

  @Test func `the speakers of a file are read as they were written`() throws {
    let quadrophonic: [Speaker] = [.frontLeft, .frontRight, .frontCentre, .backCentre]
    #expect(try speakers(of: quadrophonic, channels: 4) == quadrophonic)
    let usual = Speaker.defaultLayout(channelCount: 8)
    #expect(try speakers(of: usual, channels: 8) == usual)
  }

  @Test(arguments: [FileFormat.w64, .caf, .aiff, .flac, .ogg], [3, 6, 8])
  func `a recording of many microphones assigns none to a speaker`(
    format: FileFormat, channels: Int
  ) throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 3000, channels: channels)
    try save(sound, to: folder("a"), format, format.nearest(to: .s16))
    #expect(
      try Decoding.decoder(forPath: folder("a")).speakers
        == [Speaker](repeating: .other, count: channels))
  }

  @Test func `surround sound in Vorbis has the usual speakers`() throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 3000, channels: 6)
    let usual = Speaker.defaultLayout(channelCount: 6)
    try save(sound, to: folder("a"), .ogg, .float, speakers: usual)
    #expect(try Decoding.decoder(forPath: folder("a")).speakers == nil)
  }

  @Test func `a mask names the speakers in the order of its bits`() {
    #expect(
      ChannelMask.speakers(0x60F, channelCount: 6)
        == [.frontLeft, .frontRight, .frontCentre, .lowFrequency, .sideLeft, .sideRight])
    #expect(ChannelMask.speakers(3, channelCount: 3) == [.frontLeft, .frontRight, .other])
    #expect(ChannelMask.speakers(0x3F, channelCount: 3).count == 3)
    #expect(ChannelMask.speakers(-1, channelCount: 20).count == 20)
  }

  @Test func `a splice keeps the speakers of a file`() throws {
    let folder = TemporaryFolder()
    let (path, region) = (folder("a.wav"), folder("b.wav"))
    let speakers: [Speaker] = [.frontLeft, .frontRight, .frontCentre, .lowFrequency]
    for (name, places) in [(path, speakers), (region, nil)] {
      var writer = try SoundFileWriter(
        path: name, fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 4,
        overwrite: false, speakers: places)
      try writer.write(SampleBuffer(frameCount: 10, channelCount: 4), frames: 10)
      try writer.finish()
    }
    try FileSplice(path: path).replace(from: 2, with: region, minimumFrames: 0, isNew: false)
    #expect(try Decoding.decoder(forPath: path).speakers == speakers)
  }

  @Test func `a splice of a file without speaker positions keeps the default layout`()
    throws
  {
    let folder = TemporaryFolder()
    let region = folder("b.wav")
    var writer = try SoundFileWriter(
      path: region, fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 6,
      overwrite: false)
    try writer.write(SampleBuffer(frameCount: 3, channelCount: 6), frames: 3)
    try writer.finish()
    // A plain format chunk, which has no speaker positions.
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let format =
      number(1, 2) + number(6, 2) + number(48000, 4) + number(576_000, 4) + number(12, 2)
      + number(16, 2)
    let plain =
      Array("WAVEfmt ".utf8) + number(16, 4) + format + Array("data".utf8) + number(120, 4)
      + [UInt8](repeating: 0, count: 120)
    folder.write(Array("RIFF".utf8) + number(plain.count, 4) + plain, to: "c.wav")
    try #require(Decoding.decoder(forPath: folder("c.wav")).speakers == nil)
    try FileSplice(path: folder("c.wav")).replace(
      from: 2, with: region, minimumFrames: 0, isNew: false)
    #expect(
      try Decoding.decoder(forPath: folder("c.wav")).speakers
        == Speaker.defaultLayout(channelCount: 6))
  }
}
