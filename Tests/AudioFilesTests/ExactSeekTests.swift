import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

@Suite struct ExactSeekTests {
  /// A sound file to make, and the tolerance of a seek compared with a sequential read.
  struct Sound: Sendable, CustomTestStringConvertible {
    let format: FileFormat
    let sampleRate: Int
    let channelCount: Int
    let frameCount: Int
    let tolerance: Float
    /// The options for `lame`.
    var encoding: [String]?

    var testDescription: String {
      "\(format) \(sampleRate) Hz, \(channelCount) channels \(encoding ?? [])"
    }

    /// Makes the file and returns its path.
    func make(in folder: TemporaryFolder) throws -> String {
      let sound = glide(frames: frameCount, channels: channelCount)
      guard let encoding else {
        let path = folder("sound")
        let samples = format.isLossy ? FileSampleFormat.float : .s16
        try save(sound, to: path, format, samples, sampleRate: sampleRate)
        return path
      }
      try save(sound, to: folder("sound.wav"), .wav, .s16, sampleRate: sampleRate)
      let path = folder("sound.mp3")
      try #require(run("lame", ["--quiet"] + encoding + [folder("sound.wav"), path]))
      return path
    }
  }

  static let sounds = [
    Sound(format: .wav, sampleRate: 44100, channelCount: 2, frameCount: 90001, tolerance: 0),
    Sound(format: .aiff, sampleRate: 48000, channelCount: 1, frameCount: 50000, tolerance: 0),
    Sound(format: .flac, sampleRate: 44100, channelCount: 2, frameCount: 200_003, tolerance: 0),
    Sound(format: .ogg, sampleRate: 44100, channelCount: 2, frameCount: 400_001, tolerance: 1e-6),
    Sound(format: .ogg, sampleRate: 22050, channelCount: 1, frameCount: 200_001, tolerance: 1e-6),
    Sound(format: .opus, sampleRate: 48000, channelCount: 2, frameCount: 400_001, tolerance: 1e-4),
    Sound(format: .opus, sampleRate: 24000, channelCount: 1, frameCount: 200_001, tolerance: 1e-4),
    Sound(format: .mp3, sampleRate: 44100, channelCount: 2, frameCount: 300_001, tolerance: 1e-5),
    mp3(44100, 2, ["-b", "128"]), mp3(44100, 2, ["-b", "128", "-t"]), mp3(44100, 2, ["-V", "2"]),
    mp3(44100, 2, ["-V", "5", "-t"]), mp3(48000, 1, ["-b", "32"]), mp3(48000, 2, ["-V", "9"]),
    mp3(48000, 2, ["-b", "320", "-t"]), mp3(22050, 1, ["-b", "8", "-t"]),
    mp3(22050, 2, ["-b", "64"]), mp3(22050, 2, ["-V", "4", "-t"]), mp3(11025, 1, ["-b", "16"]),
  ]

  static func mp3(_ sampleRate: Int, _ channelCount: Int, _ encoding: [String]) -> Sound {
    Sound(
      format: .mp3, sampleRate: sampleRate, channelCount: channelCount, frameCount: 200_001,
      tolerance: 1e-5, encoding: encoding + ["--resample", "\(Double(sampleRate) / 1000)"])
  }

  @Test(arguments: sounds)
  func `a seek reaches exactly the frame that sequential reading reaches`(sound: Sound) throws {
    let folder = TemporaryFolder()
    let decoder = try Decoding.decoder(forPath: try sound.make(in: folder))
    #expect(decoder.supportsSeeking)
    let samples = try decode(decoder)
    let frameCount = samples.count / decoder.channelCount
    #expect(decoder.frameCount == frameCount)
    var random = SplitMix64(seed: 7)
    var places = (0..<50).map { _ in Int.random(in: 0..<frameCount, using: &random) }
    places += [0, frameCount - 1, 0, frameCount - 300, 1, frameCount / 2, frameCount / 2 - 1]
    places += [frameCount, 0]
    for place in places {
      let worst = try difference(decoder, at: place, frames: 500, from: samples)
      #expect(worst <= sound.tolerance, "at \(place) of \(frameCount)")
    }
    for discardBuffer in [frameCount + 1, .max, -1, .min] {
      let refusal = failure { try decoder.seek(toFrame: discardBuffer) }
      #expect(refusal?.kind == .unusableContents, "at \(discardBuffer)")
    }
  }

  @Test(arguments: [nil, ["-b", "128"], ["-V", "4"]] as [[String]?])
  func `an MP3 file has as many frames as were encoded`(encoding: [String]?) throws {
    let folder = TemporaryFolder()
    let sound = Sound(
      format: .mp3, sampleRate: 44100, channelCount: 2, frameCount: 100_003, tolerance: 0,
      encoding: encoding)
    let decoder = try Decoding.decoder(forPath: try sound.make(in: folder))
    #expect(decoder.frameCount == 100_003)
    #expect(try decode(decoder).count == 200_006)
  }

  @Test func `an MP3 file is decoded as by libsndfile`() throws {
    let folder = TemporaryFolder()
    let sound = Sound(
      format: .mp3, sampleRate: 44100, channelCount: 2, frameCount: 100_003, tolerance: 0,
      encoding: ["-V", "4"])
    let path = try sound.make(in: folder)
    let ours = try decode(Decoding.decoder(forPath: path))
    let theirs = try load(path)
    #expect(ours.count == theirs.count)
    let worst = zip(ours, theirs).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
    #expect(worst < 1e-5)
  }
}
