import Duplex
import Glibc

/// The sounds of a soak test, in a folder: numbered frames for the microphone, and songs for the
/// player.
enum SoakSounds {
  /// The number of frames after which the frame numbers repeat: 87 s.
  static let numberCount = 1 << 22

  /// Writes a 16-bit stereo file in which each frame encodes its number and none is silent. Returns
  /// the path.
  static func writeNumbers(into folder: String) throws(FileFailure) -> String {
    let path = folder + "/numbers.wav"
    var writer = try SoundFileWriter(
      path: path, fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2,
      overwrite: true)
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 2)
    for first in stride(from: 0, to: numberCount, by: 4096) {
      for index in 0..<4096 {
        let number = first + index
        buffer[2 * index] = Float(Int16(truncatingIfNeeded: number)) / 32768
        buffer[2 * index + 1] = Float((number >> 16) + 1) / 32768
      }
      try writer.write(buffer, frames: 4096)
    }
    try writer.finish()
    return path
  }

  /// Returns the number that a frame of these samples encodes; nil if it encodes none.
  @inline(__always)
  static func number(_ left: Float, _ right: Float) -> Int? {
    let low = Int(clamping: left * 32768)
    let high = Int(clamping: right * 32768)
    guard high >= 1, high <= 64 else { return nil }
    return low & 0xFFFF | (high - 1) << 16
  }

  /// Writes songs of several formats, rates and lengths. Returns their paths.
  static func writeSongs(into folder: String) throws(FileFailure) -> [String] {
    var paths: [String] = []
    for (format, rate, seconds) in [
      (FileFormat.wav, 44100, 31), (.flac, 48000, 17), (.ogg, 32000, 23), (.wav, 48000, 3),
    ] {
      let path = "\(folder)/song-\(paths.count).\(format.name)"
      var writer = try SoundFileWriter(
        path: path, fileFormat: format, sampleFormat: format == .ogg ? .float : .s16,
        sampleRate: rate, channelCount: 2,
        overwrite: true)
      var buffer = SampleBuffer(frameCount: rate, channelCount: 2)
      for second in 0..<seconds {
        for frame in 0..<rate {
          let time = Double(second) + Double(frame) / Double(rate)
          buffer[2 * frame] = Float(0.2 * sin(2 * .pi * 220 * time))
          buffer[2 * frame + 1] = Float(0.2 * sin(2 * .pi * 331 * time))
        }
        try writer.write(buffer, frames: rate)
      }
      try writer.finish()
      paths.append(path)
    }
    return paths
  }
}
