import AudioBasics
import AudioFiles
import TemporaryFolders
import TestSources
import Testing

@Suite struct DecoderTests {
  /// Returns the bytes of a sound file.
  private func bytes(
    _ format: FileFormat, frames: Int = 100_000, seed: UInt32 = 1
  ) throws -> [UInt8] {
    let folder = TemporaryFolder()
    let sound = glide(frames: frames, channels: 2, seed: seed)
    try save(
      sound, to: folder("sound"), format, format.isLossy ? .float : .s16, sampleRate: 48000)
    return folder.bytes(of: "sound")
  }

  @Test(arguments: [FileFormat.wav, .aiff, .caf, .flac, .ogg, .opus, .mp3])
  func `a byte source is decoded like the file`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    folder.write(try bytes(format), to: "sound")
    let expected = try decode(Decoding.decoder(forPath: folder("sound")))
    for piece in [16384, 1000, 1] {
      let source = MemorySource(folder.bytes(of: "sound"), pieceByteCount: piece)
      let decoder = try Decoding.decoder(for: source)
      #expect(try decode(decoder) == expected)
      #expect(decoder.frameCount == 100_000)
      #expect(decoder.supportsSeeking)
    }
  }

  @Test(arguments: [FileFormat.wav, .flac, .ogg, .opus, .mp3], [true, false])
  func `a source without seeking is decoded from its beginning to its end`(
    format: FileFormat, hasLength: Bool
  ) throws {
    let contents = try bytes(format)
    let expected = try decode(Decoding.decoder(for: MemorySource(contents)))
    let source = MemorySource(
      contents, isSeekable: false, hasLength: hasLength, pieceByteCount: 1000)
    let decoder = try Decoding.decoder(for: source)
    #expect(!decoder.supportsSeeking)
    let samples = try decode(decoder)
    // The start of the padding in the last block is known only if the length is known.
    #expect(samples.count >= expected.count && samples.count <= expected.count + 2 * 3000)
    #expect(samples.prefix(expected.count).elementsEqual(expected))
    let refusal = failure { try decoder.seek(toFrame: 5) }
    #expect(refusal?.kind == .unusableContents)
  }

  @Test(arguments: [FileFormat.wav, .flac, .ogg, .opus, .mp3])
  func `an interruption has no effect after the next seek`(format: FileFormat) throws {
    let contents = try bytes(format)
    let expected = try decode(Decoding.decoder(for: MemorySource(contents)))
    for share in [2, 3, 5, 8] {
      let source = MemorySource(contents, pieceByteCount: 700)
      let decoder = try Decoding.decoder(for: source)
      source.interrupt(behind: contents.count / share)
      let before = try decode(decoder)
      #expect(before.elementsEqual(expected.prefix(before.count)))
      #expect(before.count < expected.count)
      // During the interruption, seeks and reads return at once.
      try decoder.seek(toFrame: 70000)
      #expect(try decode(decoder).isEmpty)
      decoder.proceed()
      for frame in [70000, 10, 40000] {
        #expect(try difference(decoder, at: frame, frames: 3000, from: expected) < 1e-4)
      }
    }
  }

  @Test(arguments: [FileFormat.wav, .flac, .ogg, .opus, .mp3])
  func `an interrupted transfer is reported as a failure and not as the end`(format: FileFormat)
    throws
  {
    let contents = try bytes(format)
    let source = MemorySource(contents)
    let decoder = try Decoding.decoder(for: source)
    source.fail(behind: contents.count / 2)
    #expect(failure { _ = try decode(decoder) } == MemorySource.failure)
    let unopened = MemorySource(contents)
    unopened.fail(behind: 0)
    #expect(failure { _ = try Decoding.decoder(for: unopened) } == MemorySource.failure)
    let interrupted = MemorySource(contents)
    interrupted.interrupt()
    #expect(failure { _ = try Decoding.decoder(for: interrupted) }?.kind == .readFailed)
  }

  @Test(arguments: [["-b", "128"], ["-b", "128", "-t"], ["-V", "4"]])
  func `decoding a remote MP3 file fetches only the bytes that are played`(encoding: [String])
    throws
  {
    let contents = try lame(encoding, seconds: 60)
    let source = MemorySource(contents)
    let decoder = try Decoding.decoder(for: source)
    try decoder.seek(toFrame: 55 * 44100)
    var buffer = SampleBuffer(frameCount: 4410, channelCount: 2)
    #expect(try decoder.read(into: &buffer, at: 0, frames: 4410) > 0)
    #expect(source.readCount < contents.count / 20)
    // With blocks of one size, the exact frame is found nevertheless.
    guard encoding.contains("-b") else { return }
    let near = try decode(MPEGDecoder(MemorySource(contents), exactness: .exact))
    for second in [55, 3, 37, 59, 0, 30] {
      let worst = try difference(decoder, at: second * 44100 + 17, frames: 2000, from: near)
      #expect(worst < 1e-5)
    }
  }

  @Test func `without an encoder header the length of a remote MP3 file is estimated`() throws {
    let contents = try lame(["-b", "128", "-t"])
    let near = try MPEGDecoder(MemorySource(contents), exactness: .exact)
    let far = try MPEGDecoder(MemorySource(contents), exactness: .economical)
    let count = try decode(near).count / 2
    #expect(near.frameCount == count)
    let estimate = try #require(far.frameCount)
    #expect(abs(estimate - count) <= 2 * 1152)
    // There may be more frames than estimated, but a frame number too large for additions is
    // refused.
    #expect(throws: FileFailure.self) { try far.seek(toFrame: .max) }
    #expect(throws: FileFailure.self) { try far.seek(toFrame: -1) }
  }

  @Test func `a radio station is decoded from any byte on, and has no length`() throws {
    let contents = try lame(["-b", "128", "-t"])
    let whole = try decode(Decoding.decoder(for: MemorySource(contents)))
    let source = MemorySource(
      Array(contents[10_000...]), isSeekable: false, hasLength: false, pieceByteCount: 1400)
    let decoder = try Decoding.decoder(for: source)
    #expect(decoder.frameCount == nil)
    #expect(decoder.bitRate == 128_000)
    let samples = try decode(decoder)
    // The samples are the same, except in the first blocks.
    let tail = samples.count - 40 * 2304
    #expect(samples.suffix(tail).elementsEqual(whole.suffix(tail)))
  }

  @Test func `an MP3 file is decoded after damage`() throws {
    var contents = try lame(["-b", "128"])
    for index in 60_000..<63_000 { contents[index] = UInt8(truncatingIfNeeded: index &* 31) }
    let decoder = try MPEGDecoder(MemorySource(contents), exactness: .exact)
    let (samples, trouble) = decodeAll(decoder)
    #expect(decoder.damageCount > 0)
    #expect(trouble?.kind == .unusableContents)
    #expect(samples.count > 2 * 44100 * 9)
    #expect(samples.allSatisfy { abs($0) < 4 })
    for frame in [44100, 200_000, 380_000] {
      #expect(try difference(decoder, at: frame, frames: 900, from: samples) < 1e-5)
    }
  }

  @Test func `garbage before MP3 audio is skipped, and garbage alone is refused`() throws {
    let contents = try lame(["-b", "64"], seconds: 2)
    var random = SplitMix64(seed: 3)
    func garbage(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
    for isSeekable in [true, false] {
      let behind = MemorySource(garbage(50_000) + contents, isSeekable: isSeekable)
      #expect(try decode(Decoding.decoder(for: behind)).count > 2 * 44100)
      let alone = MemorySource(garbage(600_000), isSeekable: isSeekable, hasLength: isSeekable)
      let refusal = failure { _ = try Decoding.decoder(for: alone) }
      #expect(refusal?.kind == .unknownContents)
      let page = Array("<html><body>No such stream.</body></html>".utf8)
      let text = MemorySource(page, isSeekable: isSeekable, contentType: "audio/mpeg")
      #expect(failure { _ = try Decoding.decoder(for: text) }?.kind == .unknownContents)
      let empty = MemorySource([], isSeekable: isSeekable)
      #expect(failure { _ = try Decoding.decoder(for: empty) }?.kind == .unusableContents)
    }
  }

  @Test(arguments: [true, false])
  func `tags that claim to be longer than the file are refused`(isSeekable: Bool) throws {
    let claim: [UInt8] = [0x49, 0x44, 0x33, 4, 0, 0, 0x0F, 0x7F, 0x7F, 0x7F]
    let source = MemorySource(
      claim + [UInt8](repeating: 0xFF, count: 70_000), isSeekable: isSeekable)
    #expect(failure { _ = try Decoding.decoder(for: source) }?.kind == .unknownContents)
  }

  @Test func `a later change of channels is converted to the initial channels`() throws {
    let stereo = try lame(["-b", "128", "-t"], seconds: 2)
    let mono = try lame(["-b", "128", "-t", "-m", "m"], seconds: 2)
    for (first, second, channels) in [(stereo, mono, 2), (mono, stereo, 1)] {
      let decoder = try MPEGDecoder(MemorySource(first + second), exactness: .exact)
      #expect(decoder.channelCount == channels)
      let samples = try decode(decoder)
      #expect(samples.count >= channels * 4 * 44100)
      #expect(samples.suffix(44100).contains { abs($0) > 0.2 })
    }
  }

  @Test(arguments: [true, false])
  func `MP3 streams that were joined are played to the end of the last one`(hasLength: Bool) throws
  {
    let first = try lame(["-b", "128"], seconds: 2)
    let joined = first + (try lame(["-b", "96", "--resample", "44.1"], seconds: 2))
    func sent(_ bytes: [UInt8]) throws -> MPEGDecoder {
      try MPEGDecoder(
        MemorySource(bytes, isSeekable: false, hasLength: hasLength), exactness: .economical)
    }
    let whole = try decode(MPEGDecoder(MemorySource(joined), exactness: .economical))
    #expect(whole.count >= 2 * 4 * 44100)
    #expect(try sent(joined).isLengthEstimated)
    #expect(try decode(sent(joined)) == whole)
    // The header of one stream is correct if no other stream follows.
    #expect(try decode(sent(first)).count == 2 * 2 * 44100)
    let tag = Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
    #expect(try decode(sent(first + tag)).count == 2 * 2 * 44100)
  }

  @Test func `an opened joined MP3 file is read at the beginning of its audio`() throws {
    let joined = try lame(["-b", "320"]) + (try lame(["-b", "320"]))
    let source = MemorySource(joined)
    _ = try MPEGDecoder(source, exactness: .economical)
    #expect(source.place < joined.count / 4)
  }

  @Test func `a length estimated from the beginning does not end the playback`() throws {
    let uneven =
      try lame(["-b", "320", "-t"], seconds: 1)
      + (try lame(["-b", "64", "-t", "--resample", "44.1"], seconds: 9))
    let whole = try decode(MPEGDecoder(MemorySource(uneven), exactness: .exact))
    let decoder = try MPEGDecoder(MemorySource(uneven), exactness: .economical)
    let estimate = try #require(decoder.frameCount)
    #expect(decoder.isLengthEstimated && estimate < whole.count / 4)
    try decoder.seek(toFrame: whole.count / 2 - 44100)
    #expect(try decode(decoder).elementsEqual(whole.suffix(2 * 44100)))
    try decoder.seek(toFrame: 0)
    #expect(try decode(decoder) == whole)
    #expect(!decoder.isLengthEstimated && decoder.frameCount == whole.count / 2)
  }

  @Test(arguments: [true, false])
  func `AAC is distinguished from MP3`(isSaid: Bool) throws {
    // Two blocks of seven bytes without audio.
    let block: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 0x00, 0xFF, 0xFC]
    let source = MemorySource(
      isSaid ? [UInt8](repeating: 7, count: 100) : block + block,
      isSeekable: false, contentType: isSaid ? "audio/aacp" : nil)
    let refusal = failure { _ = try Decoding.decoder(for: source) }
    #expect(refusal?.message == "the source is AAC sound, which cannot be played.")
  }

  @Test func `a change of rate in the middle ends the audio with a message`() throws {
    let contents = try lame(["-b", "128", "-t"], seconds: 2)
    let other = try lame(["-b", "128", "-t"], seconds: 2, rate: 48000)
    let decoder = try MPEGDecoder(
      MemorySource(contents + other, isSeekable: false), exactness: .economical)
    let refusal = failure { _ = try decode(decoder) }
    #expect(refusal?.message == "the source changes its sample rate from 44100 to 48000 Hz midway.")
    #expect(decoder.position >= 2 * 44100)
  }

  @Test(arguments: [FileFormat.ogg, .opus])
  func `each song of an Ogg station is a separate stream`(format: FileFormat) throws {
    let first = try bytes(format)
    let second = try bytes(format, frames: 60_000, seed: 9)
    let decoder = try Decoding.decoder(
      for: MemorySource(first + second, isSeekable: false, hasLength: false, pieceByteCount: 500))
    let samples = try decode(decoder)
    #expect(samples.count == 2 * 160_000)
    let expected = try decode(Decoding.decoder(for: MemorySource(second)))
    #expect(samples.suffix(120_000).elementsEqual(expected))
  }

  @Test(arguments: [FileFormat.ogg, .opus])
  func `a change of codec in the middle ends the audio with a message`(format: FileFormat) throws {
    let first = try bytes(format)
    let second = try bytes(format == .ogg ? .opus : .ogg, frames: 60_000, seed: 9)
    let decoder = try Decoding.decoder(
      for: MemorySource(first + second, isSeekable: false, hasLength: false))
    var samples: [Float] = []
    let trouble = failure { samples = try decode(decoder) }
    #expect(samples.isEmpty && decoder.position == 100_000)
    #expect(trouble?.message.contains("changes its codec midway") == true)
  }

  @Test(arguments: [FileFormat.ogg, .opus], [0, 300])
  func `a station that changes from MP3 to Ogg ends with a message`(
    format: FileFormat, missing: Int
  ) throws {
    let first = try lame(["-b", "128", "-t"], seconds: 2).dropLast(missing)
    let second = try bytes(format, frames: 60_000, seed: 9)
    let decoder = try Decoding.decoder(
      for: MemorySource(first + second, isSeekable: false, hasLength: false))
    let trouble = failure { _ = try decode(decoder) }
    #expect(trouble?.message == "the source changes its format from MP3 to Ogg midway.")
    #expect(decoder.position >= 2 * 44100 - 1152 && decoder.position < 3 * 44100)
  }

  @Test(arguments: ["1", "2"])
  func `the tags of an MP3 file are read`(version: String) throws {
    let contents = try lame(
      ["-b", "64", "--id3v\(version)-only", "--tt", "Fugue", "--ta", "Bach", "--tl", "Art"]
        + ["--ty", "1750", "--tc", "Unfinished"], seconds: 1)
    let tags = try MPEGDecoder(MemorySource(contents), exactness: .exact).tags
    #expect(tags.title == "Fugue")
    #expect(tags.artist == "Bach")
    #expect(tags.album == "Art")
    #expect(tags.date == "1750")
    #expect(tags.comment == "Unfinished")
  }

  @Test(arguments: [["-V2"], ["-b", "128"]])
  func `an MP3 file that is shorter than its encoder header states ends with a failure`(
    encoding: [String]
  ) throws {
    let contents = try lame(encoding)
    let whole = try decode(Decoding.decoder(for: MemorySource(contents)))
    let folder = TemporaryFolder()
    folder.write(Array(contents.prefix(contents.count / 2)), to: "cut")
    for decoder in [
      try Decoding.decoder(forPath: folder("cut")),
      try Decoding.decoder(for: MemorySource(folder.bytes(of: "cut"))),
    ] {
      #expect(decoder.announcedFrameCount == whole.count / 2)
      let trouble = failure { _ = try decode(decoder) }
      #expect(trouble?.kind == .unusableContents)
      #expect(trouble?.message.contains("cut short after") == true)
      #expect(decoder.position > whole.count / 5 && decoder.position < whole.count * 3 / 10)
    }
  }

  @Test(arguments: [FileFormat.wav, .aiff, .flac, .ogg, .opus, .mp3])
  func `an opened source is positioned at the beginning of its audio`(format: FileFormat) throws {
    let contents = try bytes(format, frames: 960_000)
    let source = MemorySource(contents)
    let decoder = try Decoding.decoder(for: source)
    #expect(decoder.position == 0)
    // Only the bytes after the last read are fetched ahead of time.
    #expect(source.place < contents.count / 2)
  }

  @Test func `a decoder is ready with three seconds of audio, or if data arrives fast enough`()
    throws
  {
    let contents = try bytes(.wav)
    let source = MemorySource(contents)
    source.setReady(upTo: 0, bytesPerSecond: 1000)
    let decoder = try Decoding.decoder(for: source)
    let second = 48000 * 4
    #expect(!decoder.isReady(prebuffer: nil))
    source.setReady(upTo: second, bytesPerSecond: Double(second))
    #expect(!decoder.isReady(prebuffer: nil))
    source.setReady(upTo: second, bytesPerSecond: 1.6 * Double(second))
    #expect(decoder.isReady(prebuffer: nil))
    source.setReady(upTo: second / 3, bytesPerSecond: 1.6 * Double(second))
    #expect(!decoder.isReady(prebuffer: nil))
    source.setReady(upTo: contents.count, bytesPerSecond: 1000)
    #expect(decoder.isReady(prebuffer: nil))
  }

  @Test func `a requested prebuffer must be available, or all remaining bytes`() throws {
    let contents = try bytes(.wav)
    let source = MemorySource(contents)
    let second = 48000 * 4
    source.setReady(upTo: second, bytesPerSecond: 1.6 * Double(second))
    let decoder = try Decoding.decoder(for: source)
    #expect(decoder.isReady(prebuffer: nil) && decoder.isReady(prebuffer: 0))
    #expect(decoder.isReady(prebuffer: 0.9) && !decoder.isReady(prebuffer: 1.1))
    // It does not wait for bytes that arrive only after further reads.
    source.waitForReader()
    #expect(decoder.isReady(prebuffer: 20))
    source.setReady(upTo: contents.count, bytesPerSecond: 1000)
    #expect(decoder.isReady(prebuffer: 20))
  }

  @Test func `formats are recognised by extension and by media type`() {
    for format in ["mp3", ".FLAC", "audio/mpeg", "audio/x-wav", "Audio/OGG; codecs=opus", "opus"] {
      #expect(Decoding.supports(format: format))
    }
    for format in ["txt", "text/html", "video/mp4", "m4a", "audio/aac", ""] {
      #expect(!Decoding.supports(format: format))
    }
  }
}
