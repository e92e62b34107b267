import AudioBasics
import Glibc
import VoiceCleaning

/// Sounds to clean, with one channel each, and measurements of them.
enum TestVoices {
  /// The samples of a speech synthesizer at 22,050 Hz; empty if espeak-ng is not installed.
  private static let spoken: [[Float]] = [
    speak(
      "en+m3",
      "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue "
        + "background. It is easy to tell the depth of a well. These days a chicken leg is a rare "
        + "dish. Rice is often served in round bowls. The juice of lemons makes fine punch."),
    speak(
      "en+f2",
      "Four hours of steady work faced us. A large size in stockings is hard to sell. "
        + "The boy was there when the sun rose. A rod is used to catch pink salmon. The source of "
        + "the huge river is the clear spring. Kick the ball straight and follow through."),
  ]

  /// Whether a speech synthesizer is installed.
  static var canSpeak: Bool { spoken.allSatisfy { $0.count > 22050 * 8 } }

  /// Returns `seconds` of one of two voices, with its sounding parts at `level` dBFS (RMS).
  static func speech(
    _ voice: Int = 0, seconds: Double, sampleRate: Int, level: Double
  ) -> [Float] {
    let source = spoken[voice]
    let step = 22050 / Double(sampleRate)
    var sound = (0..<Int(clamping: seconds * Double(sampleRate))).map { frame -> Float in
      let position = Double(frame) * step
      let index = Int(clamping: position)
      let fraction = Float(position - Double(index))
      let (left, right) = (source[index % source.count], source[(index + 1) % source.count])
      return left + (right - left) * fraction
    }
    let gain = Float(pow(10, (level - self.level(sound, in: sounding(sound))) / 20))
    for index in sound.indices { sound[index] *= gain }
    return sound
  }

  /// Returns `seconds` of reproducible white noise at `level` dBFS (RMS).
  static func noise(
    seconds: Double, sampleRate: Int, level: Double, seed: UInt64 = 1
  ) -> [Float] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    // The RMS of a uniform distribution is its bound divided by the root of 3.
    let bound = Float(pow(10, level / 20) * 3.0.squareRoot())
    return (0..<Int(clamping: seconds * Double(sampleRate))).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return (Float(state >> 40) / Float(1 << 23) - 1) * bound
    }
  }

  /// The number of frames in each part that `sounding` and `level` evaluate.
  static let stretch = 512

  /// Returns for each part of a voice whether it sounds: at most 25 dB below its loudest part.
  static func sounding(_ sound: [Float]) -> [Bool] {
    let powers = powers(sound)
    let loudest = powers.max() ?? 0
    return powers.map { $0 > loudest * 0.003 }
  }

  /// Returns for each part of a voice whether it is a pause.
  static func pauses(_ sound: [Float]) -> [Bool] {
    powers(sound).map { $0 < 1e-9 }
  }

  /// Returns the RMS level in dBFS of the chosen parts, `delay` frames late.
  static func level(
    _ sound: [Float], in chosen: [Bool], from first: Int = 0, delay: Int = 0
  ) -> Double {
    let powers = powers(Array(sound.dropFirst(delay)))
    var sum = 0.0
    var count = 0
    for index in first / stretch..<min(powers.count, chosen.count) where chosen[index] {
      sum += powers[index]
      count += 1
    }
    return 10 * log10(sum / Double(max(1, count)) + 1e-30)
  }

  /// Returns the power of each part.
  static func powers(_ sound: [Float]) -> [Double] {
    Swift.stride(from: 0, through: sound.count - stretch, by: stretch).map { start in
      var sum = 0.0
      for index in start..<start + stretch { sum += Double(sound[index]) * Double(sound[index]) }
      return sum / Double(stretch)
    }
  }

  /// Returns the scale-invariant ratio of signal to distortion (SI-SDR) of a sound, `delay` frames
  /// late, in decibels: the part proportional to `wanted`, with any gain, over the rest.
  static func scaleInvariantRatio(
    _ sound: [Float], to wanted: [Float], from first: Int = 0, delay: Int = 0
  ) -> Double {
    var (product, power, whole) = (0.0, 1e-30, 0.0)
    for frame in first..<min(wanted.count, sound.count - delay) {
      let (found, reference) = (Double(sound[frame + delay]), Double(wanted[frame]))
      product += found * reference
      power += reference * reference
      whole += found * found
    }
    let signal = product * product / power
    return 10 * log10(signal / (whole - signal + 1e-30))
  }

  private static func speak(_ voice: String, _ text: String) -> [Float] {
    guard let pipe = popen("espeak-ng --stdout -v \(voice) '\(text)' 2>/dev/null", "r") else {
      return []
    }
    defer { pclose(pipe) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&part, 1, part.count, pipe), count > 0 {
      bytes += part[..<count]
    }
    // The samples follow a header of 44 bytes: 16 bits, one channel.
    return Swift.stride(from: 44, to: bytes.count - 1, by: 2).map {
      Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768
    }
  }
}

/// The result of cleaning one sound from start to end.
struct CleaningRun {
  let output: [Float]
  let delayFrames: Int

  /// Cleans one channel, with at most `piece` frames per call.
  init(
    _ settings: CleaningSettings, _ sound: [Float], played: [Float]? = nil, sampleRate: Int,
    piece: Int = 4096
  ) throws {
    var cleaner = try VoiceCleaner(settings, sampleRate: sampleRate, channelCount: 1)
    var buffer = SampleBuffer(frameCount: piece, channelCount: 1)
    var playedBuffer = SampleBuffer(frameCount: piece, channelCount: 1)
    var output: [Float] = []
    output.reserveCapacity(sound.count)
    var done = 0
    while done < sound.count {
      let count = min(1 + (piece * 7 + done) % piece, sound.count - done)
      for frame in 0..<count { buffer[frame] = sound[done + frame] }
      if let played {
        for frame in 0..<count { playedBuffer[frame] = played[done + frame] }
        cleaner.clean(&buffer, played: playedBuffer, frames: count)
      } else {
        cleaner.clean(&buffer, frames: count)
      }
      for frame in 0..<count { output.append(buffer[frame]) }
      done += count
    }
    self.output = output
    delayFrames = cleaner.delayFrames
  }

  /// The highest magnitude.
  var peak: Float { output.reduce(0) { max($0, abs($1)) } }
}
