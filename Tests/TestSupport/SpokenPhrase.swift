import AudioBasics
import AudioClocks
import AudioFiles
import LinuxSystem
import TemporaryFolders

/// A text for espeak-ng, with the voice and its settings.
package struct SpokenPhrase {
  package var text: String
  package var voice: String
  package var wordsPerMinute = 175
  package var pitch = 50

  package init(text: String, voice: String, wordsPerMinute: Int = 175, pitch: Int = 50) {
    (self.text, self.voice) = (text, voice)
    (self.wordsPerMinute, self.pitch) = (wordsPerMinute, pitch)
  }

  /// Returns the samples at `sampleRate`; empty if espeak-ng is not installed.
  package func samples(sampleRate: Int) throws -> [Float] {
    let folder = TemporaryFolder()
    let path = folder("phrase.wav")
    let words = [
      "espeak-ng", "-v", voice, "-s", "\(wordsPerMinute)", "-p", "\(pitch)", "-w", path, text,
    ]
    guard case .text = ProgramOutput.run(words, timeoutMilliseconds: 20000) else { return [] }
    var reader = try SoundFileReader(path: path)
    let said = try reader.readAll(maximumFrames: 180 * reader.sampleRate)
    let count = said.frameCount
    guard sampleRate != reader.sampleRate else { return (0..<count).map { said[$0] } }
    var converter = try RateConverter(
      channelCount: 1, inputRate: reader.sampleRate, outputRate: sampleRate, quality: 3)
    converter.skipLeadingSilence()
    var converted = SampleBuffer(
      frameCount: count * sampleRate / reader.sampleRate, channelCount: 1)
    let done = converter.convert(
      said, frames: count, into: &converted, room: converted.frameCount)
    return (0..<done.produced).map { converted[$0] }
  }
}

/// A filter that turns white noise into pink noise: P. Kellet's economical filter.
package struct PinkFilter {
  private var states = (0.0, 0.0, 0.0)

  package init() {}

  /// Returns the next sample of pink noise for the next sample of white noise.
  package mutating func next(_ white: Double) -> Double {
    states.0 = 0.99765 * states.0 + white * 0.0990460
    states.1 = 0.96300 * states.1 + white * 0.2965164
    states.2 = 0.57000 * states.2 + white * 1.0526913
    return states.0 + states.1 + states.2 + white * 0.1848
  }
}

extension [Float] {
  /// The range from the first sample above -60 dB of the peak to the end of the last one above -50
  /// dB.
  package var soundingRange: Range<Int> {
    let peak = reduce(0) { Swift.max($0, abs($1)) }
    let first = firstIndex { abs($0) > peak * 0.001 } ?? 0
    let last = lastIndex { abs($0) > peak * 0.003162 } ?? 0
    return first..<last + 1
  }

  /// Returns the RMS of all parts that are less than 35 dB below the loudest 10 ms.
  package func activeLevel(sampleRate: Int) -> Float {
    let length = sampleRate / 100
    let powers = stride(from: 0, to: count - length, by: length).map { start in
      self[start..<start + length].reduce(0) { $0 + $1 * $1 } / Float(length)
    }
    let loudest = powers.max() ?? 0
    let active = powers.filter { $0 > loudest * 0.000316 }
    return (active.reduce(0, +) / Float(Swift.max(1, active.count))).squareRoot()
  }

  /// Returns the samples scaled to an RMS of 1.
  package func normalised() -> [Float] {
    let power = reduce(0.0) { $0 + Double($1) * Double($1) } / Double(Swift.max(1, count))
    let scale = power > 0 ? Float(1 / power.squareRoot()) : 0
    return map { $0 * scale }
  }
}
