import AudioBasics
import Glibc
import TemporaryFolders
import Testing

@testable import AudioFiles

/// Tests of the end of Opus files: the encoder delays the sound, and must be given silence after it
/// so that nothing of the end is lost.
@Suite struct OpusEndTests {
  /// Lengths, and the numbers of frames in the last packet of 20 ms at 48 kHz.
  private static let rests = [0, 1, 60, 100, 179, 180, 480, 648, 649, 720, 900, 959]

  @Test(arguments: [48000, 24000, 8000], rests)
  func `an Opus file holds its sound up to the last frame`(rate: Int, rest: Int) throws {
    let folder = TemporaryFolder()
    let step = 48000 / rate
    let frames = (9600 + rest) / step
    let sound = tones(frames: frames + 4800, rate: rate)
    try save(sound, to: folder("longer.opus"), .opus, .float, sampleRate: rate)
    var writer = try SoundFileWriter(
      path: folder("end.opus"), fileFormat: .opus, sampleFormat: .float, sampleRate: rate,
      channelCount: 2, overwrite: false)
    try writer.write(sound, frames: frames)
    try writer.finish()
    let whole = try load(folder("longer.opus"))
    let ending = try load(folder("end.opus"))
    #expect(ending.count == 2 * frames * step)
    // The last 6.5 ms.
    let part = ending.count - 2 * 312..<ending.count
    let power = part.reduce(0) { $0 + whole[$1] * whole[$1] }
    let error = part.reduce(0) { $0 + (ending[$1] - whole[$1]) * (ending[$1] - whole[$1]) }
    // Without the silence it is 0.26 to 0.78 for six of the lengths at 48 and 24 kHz.
    #expect(error < 0.05 * power, "\(error / power)")
    let finding = try FileRepair.examine(folder("end.opus"))
    #expect(finding.isIntact)
    #expect(finding.frames == frames * step)
  }

  @Test(arguments: [1, 2, 100, 960, 961], [1, 2, 6])
  func `an Opus file of any length has this length`(frames: Int, channels: Int) throws {
    let folder = TemporaryFolder()
    let sound = integers(bits: 16, frames: frames, channels: channels)
    try save(
      sound, to: folder("short.opus"), .opus, .float,
      speakers: Speaker.defaultLayout(channelCount: channels))
    #expect(try load(folder("short.opus")).count == frames * channels)
    #expect(try FileRepair.examine(folder("short.opus")).isIntact)
  }

  @Test(arguments: rests)
  func `an Opus file ends with the packet of its last frame`(rest: Int) throws {
    let folder = TemporaryFolder()
    try save(tones(frames: 9600 + rest, rate: 48000), to: folder("p.opus"), .opus, .float)
    let bytes = folder.bytes(of: "p.opus")
    var (offset, packets) = (0, -2)
    while offset < bytes.count {
      let lengths = bytes[offset + 27..<offset + 27 + Int(bytes[offset + 26])]
      packets += lengths.filter { $0 < 255 }.count
      offset += 27 + lengths.count + lengths.reduce(0) { $0 + Int($1) }
    }
    // The look-ahead of 312 frames comes first.
    #expect(packets == (9600 + rest + 312 + 959) / 960)
  }

  private func tones(frames: Int, rate: Int) -> SampleBuffer {
    var buffer = SampleBuffer(frameCount: frames, channelCount: 2)
    for frame in 0..<frames {
      let time = 2 * Double.pi * Double(frame) / Double(rate)
      buffer[2 * frame] = Float(0.3 * sin(440 * time))
      buffer[2 * frame + 1] = Float(0.3 * sin(1000 * time))
    }
    return buffer
  }
}
