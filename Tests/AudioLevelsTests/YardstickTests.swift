import AudioBasics
import AudioLevels
import CEbur128
import Glibc
import Testing

/// Tests of the meter against libebur128, which keeps every block and interpolates every sample.
@Suite struct YardstickTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let sampleRate: Int
    let channelCount: Int
    /// The range in dB of the level, which changes every 0.5 seconds.
    let swing: Double
    let seed: UInt64
    /// The DC offset, and the amplitude of a tone of 8 Hz.
    var constant = 0.0
    var rumble = 0.0
    var testDescription: String {
      "\(sampleRate) Hz, \(channelCount) channels, \(swing) dB, constant part \(constant)"
    }
  }

  static let cases = [
    Case(sampleRate: 48000, channelCount: 2, swing: 12, seed: 1),
    Case(sampleRate: 44100, channelCount: 2, swing: 30, seed: 2),
    Case(sampleRate: 44100, channelCount: 1, swing: 3, seed: 3),
    Case(sampleRate: 96000, channelCount: 2, swing: 20, seed: 4),
    Case(sampleRate: 192_000, channelCount: 1, swing: 20, seed: 5),
    Case(sampleRate: 48000, channelCount: 6, swing: 40, seed: 6),
    Case(sampleRate: 32000, channelCount: 5, swing: 60, seed: 7),
    Case(sampleRate: 22050, channelCount: 4, swing: 9, seed: 8),
    Case(sampleRate: 8000, channelCount: 3, swing: 25, seed: 9),
    Case(sampleRate: 11025, channelCount: 2, swing: 15, seed: 10),
    Case(sampleRate: 48000, channelCount: 1, swing: 50, seed: 11),
    Case(sampleRate: 48000, channelCount: 2, swing: 0, seed: 12),
    Case(sampleRate: 96000, channelCount: 8, swing: 35, seed: 13),
    Case(sampleRate: 44100, channelCount: 7, swing: 35, seed: 18),
    Case(sampleRate: 48000, channelCount: 12, swing: 35, seed: 19),
    Case(sampleRate: 384_000, channelCount: 2, swing: 20, seed: 14),
    // The components that the high-pass must remove are much louder than the rest.
    Case(sampleRate: 48000, channelCount: 2, swing: 20, seed: 15, constant: 0.5, rumble: 0.3),
    Case(sampleRate: 192_000, channelCount: 2, swing: 30, seed: 16, constant: -0.5, rumble: 0.4),
    Case(sampleRate: 44100, channelCount: 3, swing: 30, seed: 17, constant: 0.7, rumble: 0.2),
  ]

  /// Returns noise and tones of varying level, some of them beyond full scale.
  private func material(_ test: Case, seconds: Int) -> SampleBuffer {
    var state = test.seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func random() -> Double {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Double(state >> 11) / Double(1 << 53)
    }
    let frames = seconds * test.sampleRate
    var buffer = SampleBuffer(frameCount: frames, channelCount: test.channelCount)
    var gain = 0.0
    var turn = 0.0
    var brown = 0.0
    for frame in 0..<frames {
      if frame % (test.sampleRate / 2) == 0 {
        gain = pow(10, -(6 + test.swing * random()) / 20)
        turn = 2 * .pi * (100 + random() * 0.4 * Double(test.sampleRate)) / Double(test.sampleRate)
      }
      brown = 0.98 * brown + 0.2 * (random() - 0.5)
      let tone = sin(turn * Double(frame))
      let below =
        test.constant + test.rumble * sin(16 * .pi * Double(frame) / Double(test.sampleRate))
      for channel in 0..<test.channelCount {
        let sample = below + gain * (tone + brown + (random() - 0.5) / Double(channel + 1))
        buffer[frame * test.channelCount + channel] = Float(sample)
      }
    }
    return buffer
  }

  /// Returns the loudspeaker positions for channel counts without a default in libebur128: those of
  /// a WAV file for 7 and 8 channels, and the centre for more.
  private static func places(of channelCount: Int) -> [channel] {
    let front = [EBUR128_LEFT, EBUR128_RIGHT, EBUR128_CENTER, EBUR128_UNUSED]
    return switch channelCount {
    case ...6: []
    case 7: front + [EBUR128_Mp180, EBUR128_Mp090, EBUR128_Mm090]
    case 8: front + [EBUR128_Mp135, EBUR128_Mm135, EBUR128_Mp090, EBUR128_Mm090]
    default: Array(repeating: EBUR128_CENTER, count: channelCount)
    }
  }

  private func ask(
    _ question: (UnsafeMutablePointer<ebur128_state>?, UnsafeMutablePointer<Double>?) -> Int32,
    _ state: UnsafeMutablePointer<ebur128_state>?
  ) -> Double {
    var answer = 0.0
    #expect(question(state, &answer) == 0)
    return answer
  }

  @Test(arguments: cases)
  func `loudness is within 0.01 LU of libebur128's, true peak within 0.01 dB`(test: Case) throws {
    let sound = material(test, seconds: 24)
    var meter = LoudnessMeter(sampleRate: test.sampleRate, channelCount: test.channelCount)
    let mode =
      EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue
    var state = ebur128_init(UInt32(test.channelCount), UInt(test.sampleRate), Int32(mode))
    defer { ebur128_destroy(&state) }
    for (channel, place) in Self.places(of: test.channelCount).enumerated() {
      #expect(ebur128_set_channel(state, UInt32(channel), Int32(place.rawValue)) == 0)
    }
    var done = 0
    while done < sound.frameCount {
      let count = min(1 + done % 3001, sound.frameCount - done)
      meter.add(sound, from: done, frames: count)
      sound.samples.withUnsafeBufferPointer { samples in
        _ = ebur128_add_frames_float(
          state, samples.baseAddress.map { $0 + done * test.channelCount }, count)
      }
      done += count
    }
    let levels = meter.levels
    let integrated = try #require(levels.integratedLUFS)
    #expect(abs(integrated - ask(ebur128_loudness_global, state)) < 0.01)
    let range = try #require(levels.loudnessRangeLU)
    #expect(abs(range - ask(ebur128_loudness_range, state)) < 0.02)
    let momentary = try #require(levels.momentaryLUFS)
    #expect(abs(momentary - ask(ebur128_loudness_momentary, state)) < 0.01)
    let shortTerm = try #require(levels.shortTermLUFS)
    #expect(abs(shortTerm - ask(ebur128_loudness_shortterm, state)) < 0.01)
    for (channel, found) in levels.truePeaks.enumerated() {
      var peak = 0.0
      #expect(ebur128_true_peak(state, UInt32(channel), &peak) == 0)
      #expect(abs(20 * log10(Double(found) / peak)) < 0.01)
    }
  }
}
