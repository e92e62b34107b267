import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

/// Tests that lossy formats keep every channel, since microphones have no loudspeakers.
@Suite struct LossyChannelTests {
  /// Each channel holds a tone of its own, of 1 kHz and above.
  private static func tones(_ channels: Int, rate: Int) -> SampleBuffer {
    var sound = SampleBuffer(frameCount: rate, channelCount: channels)
    for frame in 0..<rate {
      for channel in 0..<channels {
        let cycles = Float(frame) * Float(1000 + 300 * channel) / Float(rate)
        sound[frame * channels + channel] = 0.25 * sinf(2 * .pi * (cycles - floorf(cycles)))
      }
    }
    return sound
  }

  /// Returns the share of the tone of each channel that is in the same channel of `read`.
  private static func shares(_ read: [Float], of tones: borrowing SampleBuffer) -> [Float] {
    let channels = tones.channelCount
    return (0..<channels).map { channel in
      var (product, power): (Float, Float) = (0, 0)
      for index in stride(from: channel, to: min(read.count, tones.sampleCount), by: channels) {
        product += read[index] * tones[index]
        power += tones[index] * tones[index]
      }
      return product / power
    }
  }

  @Test(
    arguments: [
      (FileFormat.ogg, [1, 2, 3, 4, 5, 6, 7, 8]), (.opus, [1, 2, 3, 4, 5]), (.mp3, [1, 2]),
    ], [44100, 48000])
  func `a tone above 1 kHz arrives in each channel`(
    format: (name: FileFormat, channels: [Int]), rate: Int
  ) throws {
    guard format.name != .opus || rate == 48000 else { return }
    for channels in format.channels {
      let folder = TemporaryFolder()
      let tones = Self.tones(channels, rate: rate)
      try save(tones, to: folder("tones"), format.name, .float, sampleRate: rate)
      let shares = Self.shares(try load(folder("tones")), of: tones)
      #expect(shares.allSatisfy { abs($0 - 1) < 0.1 }, "\(channels) channels: \(shares)")
    }
  }

  @Test(arguments: [6, 7, 8])
  func `Opus has this many channels only for loudspeakers with a subwoofer`(channels: Int) throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: 3000, channels: channels)
    let usual = Speaker.defaultLayout(channelCount: channels)
    let others = usual.map { $0.map { $0 == .lowFrequency ? Speaker.other : $0 } }
    for speakers in [nil, others, [Speaker](repeating: .other, count: channels)] {
      let refusal = failure {
        try save(sound, to: folder("x.opus"), .opus, .float, speakers: speakers)
      }
      #expect(refusal?.kind == .invalidRequest)
      #expect(refusal?.message.contains("\(channels) channels of microphones") == true)
      #expect(refusal?.hint.contains("FLAC") == true && folder.names == [])
    }
    try save(sound, to: folder("x.opus"), .opus, .float, speakers: usual)
    #expect(try load(folder("x.opus")).count == 3000 * channels)
  }

  @Test(arguments: [FileFormat.ogg, .opus])
  func `surround sound is in the order of its loudspeakers`(format: FileFormat) throws {
    let folder = TemporaryFolder()
    var sound = SampleBuffer(frameCount: 48000, channelCount: 6)
    for frame in 0..<48000 {
      for (channel, frequency) in [200, 400, 600, 60, 1000, 1200].enumerated() {
        let cycles = Float(frame * frequency % 48000) / 48000
        sound[6 * frame + channel] = 0.25 * sinf(2 * .pi * cycles)
      }
    }
    try save(
      sound, to: folder("s"), format, .float, speakers: Speaker.defaultLayout(channelCount: 6))
    let shares = Self.shares(try load(folder("s")), of: sound)
    // Low frequencies are less exact.
    #expect(shares.allSatisfy { abs($0 - 1) < 0.3 }, "\(shares)")
  }
}
