import AudioBasics
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

  @Test func `many channels of microphones are for no speaker in particular`() throws {
    let found = try speakers(of: nil, channels: 6)
    #expect(found == [Speaker](repeating: .other, count: 6))
  }

  @Test func `the speakers that a file names are read as they were written`() throws {
    let quadrophonic: [Speaker] = [.frontLeft, .frontRight, .frontCentre, .backCentre]
    #expect(try speakers(of: quadrophonic, channels: 4) == quadrophonic)
    let usual = Speaker.usual(channelCount: 8)
    #expect(try speakers(of: usual, channels: 8) == usual)
  }

  @Test func `a region put into a file leaves its speakers`() throws {
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
    try FileSplice(path: path).replace(from: 2, with: region, leastFrames: 0, isNew: false)
    #expect(try Decoding.decoder(forPath: path).speakers == speakers)
  }
}
