import AudioBasics
import AudioFiles
import AudioSessions
import Glibc
import TestSources

extension FuzzTarget {
  /// WAV, RF64, W64, AIFF, CAF, AU, FLAC and all other formats, from a byte source or a file.
  static let sound = FuzzTarget("sound", maximumLength: 16384) { input in
    let opening = input.choose()
    guard opening % 4 != 0 else {
      return ScratchFile.sound.with(input.bytes) { path in
        listen(to: try? Decoding.decoder(forPath: path), &input)
      }
    }
    let source = byteSource(&input)
    listen(to: try? Decoding.decoder(for: source), &input)
  }

  /// MPEG audio and its tags, with both levels of exactness.
  static let mpeg = FuzzTarget("mpeg", maximumLength: 16384) { input in
    let exactness = input.choose(from: [MPEGDecoder.Exactness.exact, .economical])
    let source = byteSource(&input)
    listen(to: try? MPEGDecoder(source, exactness: exactness), &input)
  }

  /// Ogg Vorbis and Opus.
  static let ogg = FuzzTarget("ogg", maximumLength: 32768) { input in
    let source = byteSource(&input)
    listen(to: try? OggDecoder(source), &input)
  }

  /// Returns the input as a byte source that delivers pieces, and may fail or be interrupted.
  private static func byteSource(_ input: inout FuzzInput) -> MemorySource {
    let kind = input.choose()
    let source = MemorySource(
      input.bytes, isSeekable: kind & 3 != 3, hasLength: kind & 12 != 12,
      pieceByteCount: input.choose(from: [16384, 16384, 1000, 17, 1]))
    let place = Int(input.choose()) * (1 + input.bytes.count / 256)
    switch kind >> 4 {
    case 14: source.fail(behind: place)
    case 15: source.interrupt(behind: place)
    default: break
    }
    return source
  }

  /// Reads, seeks and plays as determined by the input, for a limited time.
  private static func listen(to decoder: (any SoundDecoder)?, _ input: inout FuzzInput) {
    guard let decoder else { return }
    _ = (decoder.bitRate, decoder.tags, decoder.isReady(prebuffer: nil), decoder.announcedTitle)
    _ = decoder.markers.reduce(0) { $0 + ($1.gapFrames ?? 0) }
    guard decoder.channelCount > 0, decoder.sampleRate > 0 else {
      finding("\(decoder.channelCount) channels, \(decoder.sampleRate) Hz")
    }
    var buffer = SampleBuffer(frameCount: 1024, channelCount: decoder.channelCount)
    for _ in 0..<8 {
      let choice = input.choose()
      switch choice % 8 {
      case 0...3:
        let target = Int(choice)
        let frames = choice > 127 ? Int.max : 1024 - target
        guard let count = try? decoder.read(into: &buffer, at: target, frames: frames) else {
          break
        }
        guard count >= 0, count <= 1024 - target else { finding("\(count) frames were read") }
      case 4, 5:
        let length = decoder.frameCount ?? 100_000
        try? decoder.seek(toFrame: length / 255 * Int(input.choose()))
      case 6:
        let length = decoder.frameCount ?? 100_000
        try? decoder.seek(
          toFrame: input.choose(from: [0, 1, length, length - 1, -1, .max, .min, 1 << 62, 1 << 40]))
      default: decoder.proceed()
      }
      if let length = decoder.frameCount, length < 0 { finding("\(length) frames") }
      if decoder.position < 0 { finding("at frame \(decoder.position)") }
    }
    decoder.proceed()
    if input.choose() % 2 == 0, decoder.channelCount <= 16 { play(decoder, &input) }
  }

  /// Plays the sound as the tool does, at the file's own rate, because creating a converter would
  /// take longer than the rest.
  private static func play(_ decoder: any SoundDecoder, _ input: inout FuzzInput) {
    let range = PlaybackRange(
      startFrame: Int(input.choose()) * 4, endFrame: input.choose() % 2 == 0 ? nil : 4000,
      times: input.choose(from: [1, 3, nil]), isReversed: input.choose() % 4 == 0)
    read(
      try? TrackReader(
        decoder, sampleRate: decoder.sampleRate, channelCount: 2,
        settings: TrackSettings(range: range)))
  }

  private static func read(_ track: TrackReader?) {
    guard let track else { return }
    var buffer = SampleBuffer(frameCount: 1024, channelCount: 2)
    for _ in 0..<8 {
      guard let count = try? track.read(into: &buffer, frames: 1024), count > 0 else { return }
    }
  }

  /// Tracks of absurd lengths, from absurd positions on, at any rate.
  static let track = FuzzTarget("track", maximumLength: 64) { input in
    let decoder = AnnouncedSound(
      sampleRate: input.number(from: [48000, 44100, 1, .max >> 33]),
      frameCount: input.choose() % 8 == 0 ? nil : input.number(from: [1000, 1 << 47, .max]))
    let range = PlaybackRange(
      startFrame: input.number(from: [0, 1 << 31, .max]),
      endFrame: input.choose() % 2 == 0 ? nil : input.number(from: [1, 1 << 31, .max]),
      times: input.choose(from: [1, 2, 4, 100_000, 1_000_000_000, nil]),
      isReversed: input.choose() % 2 == 0)
    var settings = TrackSettings(range: range, resamplerQuality: 0)
    settings.speed = input.choose(from: [1, 1, 1, 0.25, 0.3, 4])
    let rates = [decoder.sampleRate, 48000, 96000, 8000, 768_000]
    let track = try? TrackReader(
      decoder, sampleRate: input.choose(from: rates), channelCount: 2, settings: settings)
    _ = track?.frameCount
    if input.choose() % 2 == 0 {
      try? track?.narrow(
        from: input.number(from: [0, 1 << 40, .max]),
        frames: input.choose() % 2 == 0 ? nil : input.number(from: [0, .max]))
    }
    read(track)
  }
}

/// Silence with any announced length and rate.
private final class AnnouncedSound: PlainSoundDecoder {
  let name = "the sound"
  let sampleRate: Int
  let channelCount = 1
  let frameCount: Int?
  let supportsSeeking = true
  private(set) var position = 0

  init(sampleRate: Int, frameCount: Int?) {
    self.sampleRate = max(1, sampleRate)
    self.frameCount = frameCount
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    let count = min(frames, buffer.frameCount - target, (frameCount ?? .max) - position)
    position += count
    return count
  }

  func seek(toFrame frame: Int) throws(FileFailure) {
    guard frame >= 0, frame <= frameCount ?? .max else {
      throw FileFailure(.unusableContents, "There is no frame \(frame).", hint: "None.")
    }
    position = frame
  }
}
