import AudioBasics
import AudioFiles
import Glibc
import Testing

@testable import SoundInspection

/// A sound whose samples are calculated by a function.
private final class MadeSound: PlainSoundDecoder {
  let name = "made"
  let sampleRate = 48000
  let channelCount: Int
  let frameCount: Int?
  let supportsSeeking = false
  private(set) var position = 0
  private let end: Int
  private let sample: (_ frame: Int, _ channel: Int) -> Float

  init(
    frames: Int, channels: Int = 1, tellsLength: Bool = true,
    _ sample: @escaping (_ frame: Int, _ channel: Int) -> Float
  ) {
    end = frames
    channelCount = channels
    frameCount = tellsLength ? frames : nil
    self.sample = sample
  }

  func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
    let count = min(frames, end - position)
    for frame in 0..<count {
      for channel in 0..<channelCount {
        buffer[(target + frame) * channelCount + channel] = sample(position + frame, channel)
      }
    }
    position += count
    return count
  }

  func seek(toFrame frame: Int) {}
}

private func sine(_ hertz: Double, _ frame: Int, _ level: Double = 1) -> Float {
  Float(level * sin(2 * .pi * hertz * Double(frame) / 48000))
}

struct InspectionTests {
  @Test func `silence is measured at both ends and in pauses, not between the peaks of a tone`()
    throws
  {
    // One second of silence, one second of tone, 0.6 s of silence, tone, 0.3 s of silence, tone,
    // 0.1 s of silence.
    let loud = [48000..<96000, 124_800..<172_800, 187_200..<235_200]
    let sound = MadeSound(frames: 240_000, channels: 2) { frame, channel in
      channel == 1 && loud.contains { $0.contains(frame) } ? 0.5 : 0.0005
    }
    let found = try SoundInspection(of: sound)
    #expect(found.silence == SilentFrames(lead: 48000, tail: 4800, total: 48000 + 28800 + 4800))
    #expect(found.frames == 240_000)
    let nothing = try SoundInspection(of: MadeSound(frames: 100) { _, _ in 0 })
    #expect(nothing.silence.total == 100)
    let tone = try SoundInspection(of: MadeSound(frames: 48000) { frame, _ in sine(50, frame) })
    #expect(tone.silence.total <= 1)
  }

  @Test(arguments: [true, false], [1, 100, 1479, 1480, 1481, 4000, 2961, 1_000_000])
  func `columns cover every frame once, whether the length is known or not`(
    tells: Bool, frames: Int
  ) throws {
    let sound = MadeSound(frames: frames, tellsLength: tells) { frame, _ in Float(frame % 7) / 8 }
    let waveform = try #require(try SoundInspection(of: sound, drawsWaveform: true).waveform)
    let columns = waveform.channels[0]
    #expect(columns.reduce(0) { $0 + $1.frames } == frames)
    #expect(columns.count <= 2 * SoundInspection.columns)
    #expect(columns.count == (frames + waveform.framesPerColumn - 1) / waveform.framesPerColumn)
    #expect(columns.dropLast().allSatisfy { $0.frames == waveform.framesPerColumn })
    if tells { #expect(columns.count <= SoundInspection.columns) }
    if frames >= 4000, tells { #expect(columns[1].lowest >= 0 && columns[1].highest <= 0.75) }
  }

  @Test func `a click of one frame appears in its column`() throws {
    let sound = MadeSound(frames: 1_480_000, channels: 2) { frame, channel in
      frame == 740_500 && channel == 1 ? -0.75 : 0
    }
    let waveform = try #require(try SoundInspection(of: sound, drawsWaveform: true).waveform)
    #expect(waveform.channels[1][740].lowest == -0.75 && waveform.channels[1][741].lowest == 0)
    #expect(waveform.channels[0].allSatisfy { $0.lowest == 0 && $0.highest == 0 })
  }

  @Test(arguments: [true, false])
  func `a tone appears in its row at its level, from its start to its end`(tells: Bool) throws {
    // 6 kHz at -20 dBFS in the second half only.
    let sound = MadeSound(frames: 960_000, channels: 2, tellsLength: tells) { frame, channel in
      channel == 0 && frame >= 480_000 ? sine(6000, frame, 0.1) : 0
    }
    let found = try #require(try SoundInspection(of: sound, drawsSpectrogram: true).spectrogram)
    let row = 6000 * found.rowCount / 24000
    func level(_ channel: Int, _ second: Double, _ row: Int) -> Double {
      let column = Int(clamping: second * 48000) / found.framesPerColumn
      return 10
        * log10(
          Double(found.power(channel: channel, column: column, row: row)) + 1e-20)
    }
    #expect(found.rowCount == 256 && found.channelCount == 2)
    for second in [10.2, 15, 19.8] {
      #expect(abs(max(level(0, second, row), level(0, second, row - 1)) + 20) < 0.5)
      #expect(level(0, second, row / 2) < -90 && level(1, second, row) < -150)
    }
    #expect(level(0, 9.8, row) < -90)
  }

  @Test func `NaN and infinite samples are left out of the waveform and the spectrogram`() throws {
    let sound = MadeSound(frames: 100_000) { frame, _ in
      frame == 500 ? .nan : frame == 700 ? .infinity : sine(1000, frame, 0.5)
    }
    let found = try SoundInspection(of: sound, drawsWaveform: true, drawsSpectrogram: true)
    let spectrogram = try #require(found.spectrogram)
    let powers = (0..<spectrogram.columnCount).map {
      spectrogram.power(channel: 0, column: $0, row: 20)
    }
    #expect(powers.allSatisfy { $0.isFinite })
    let columns = try #require(found.waveform).channels[0]
    #expect(columns.allSatisfy { $0.highest <= 0.5 && $0.rms.isFinite })
  }

  @Test func `only the first eight of 20 channels are drawn, with fewer rows`() throws {
    let sound = MadeSound(frames: 50_000, channels: 20) { frame, channel in
      channel == 19 ? 0.9 : sine(1000, frame, 0.5)
    }
    let found = try SoundInspection(of: sound, drawsWaveform: true, drawsSpectrogram: true)
    #expect(found.waveform?.channels.count == 8 && found.spectrogram?.channelCount == 8)
    #expect(found.spectrogram?.rowCount == 64 && found.levels.samplePeaks.count == 20)
  }
}
