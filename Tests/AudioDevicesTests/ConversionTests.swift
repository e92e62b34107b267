import AudioBasics
import Testing

@testable import AudioDevices

@Suite struct ConversionTests {
  /// All integer sample formats.
  static let integers = SampleFormat.allCases.filter { $0 != .floatLE && $0 != .floatBE }

  @Test(arguments: integers)
  func `16-bit samples pass through every format unchanged`(format: SampleFormat) {
    var samples = SampleBuffer(frameCount: 65536, channelCount: 1)
    for value in 0..<65536 { samples[value] = Float(value - 32768) / 32768 }
    let isUnchanged = passes(samples, through: format)
    #expect(isUnchanged)
  }

  @Test(arguments: integers.filter { $0.significantBits >= 24 })
  func `24-bit samples pass through every wide format unchanged`(format: SampleFormat) {
    let step = 997
    var samples = SampleBuffer(frameCount: 16_777_216 / step, channelCount: 1)
    for index in 0..<samples.sampleCount {
      samples[index] = Float(index * step - 8_388_608) / 8_388_608
    }
    let isUnchanged = passes(samples, through: format)
    #expect(isUnchanged)
  }

  @Test(arguments: SampleFormat.allCases)
  func `the limits of the range pass through every format unchanged`(format: SampleFormat) {
    var samples = SampleBuffer(frameCount: 1, channelCount: 2)
    samples[0] = -1
    samples[1] = 32767.0 / 32768
    let isUnchanged = passes(samples, through: format)
    #expect(isUnchanged)
  }

  @Test(arguments: integers)
  func `samples beyond full scale saturate and never wrap`(format: SampleFormat) {
    var samples = SampleBuffer(frameCount: 5, channelCount: 1)
    for (index, loud) in ([1, 1.5, 1e30, -1.5, -Float.infinity] as [Float]).enumerated() {
      samples[index] = loud
    }
    var device = DeviceBuffer(format: format, channelCount: 1, frameCount: 5)
    device.store(samples, from: 0, frames: 5)
    device.load(frames: 5, into: &samples, at: 0)
    for index in 0..<3 { #expect(samples[index] > 0.9999 && samples[index] <= 1) }
    for index in 3..<5 { #expect(samples[index] == -1) }
  }

  @Test(arguments: [SampleFormat.floatLE, .floatBE])
  func `NaN delivered by a device is read as silence`(format: SampleFormat) {
    let device = DeviceBuffer(format: format, channelCount: 1, frameCount: 3)
    for (frame, value) in ([0.5, .nan, -0.25] as [Float]).enumerated() {
      let bits = format == .floatLE ? value.bitPattern : value.bitPattern.byteSwapped
      device.memory.storeBytes(of: bits, toByteOffset: 4 * frame, as: UInt32.self)
    }
    var samples = SampleBuffer(frameCount: 3, channelCount: 1)
    device.load(frames: 3, into: &samples, at: 0)
    for (frame, value) in ([0.5, 0, -0.25] as [Float]).enumerated() {
      #expect(samples[frame] == value)
    }
  }

  @Test(arguments: SampleFormat.allCases, [1, 2, 3, 7])
  func `NaN is written as silence and counted`(format: SampleFormat, channels: Int) {
    var samples = SampleBuffer(frameCount: 9, channelCount: channels)
    for index in 0..<samples.sampleCount { samples[index] = index % 3 == 0 ? .nan : 0.5 }
    let device = DeviceBuffer(format: format, channelCount: channels, frameCount: 9)
    let frames = device.frames(9)
    let found = frames.encode(samples, from: 0, frames: 9, at: 0)
    frames.decode(from: 0, frames: 9, into: &samples, at: 0)
    #expect(found == (9 * channels + 2) / 3)
    for index in 0..<samples.sampleCount {
      #expect(samples[index] == (index % 3 == 0 ? 0 : 0.5))
    }
  }

  @Test(arguments: SampleFormat.allCases)
  func `non-interleaved channels are read and written in order`(format: SampleFormat) {
    let layout = DeviceLayout(
      format: format, channelCount: 3, frameStride: format.byteCount,
      channelStride: 8 * format.byteCount)
    let device = DeviceBuffer(layout, frameCount: 8)
    var samples = SampleBuffer(frameCount: 8, channelCount: 3)
    for index in 0..<24 { samples[index] = Float(index) / 64 }
    let frames = device.frames(8)
    _ = frames.encode(samples, from: 0, frames: 8, at: 0)
    var back = SampleBuffer(frameCount: 8, channelCount: 3)
    frames.decode(from: 0, frames: 8, into: &back, at: 0)
    for index in 0..<24 { #expect(back[index] == samples[index]) }
  }

  @Test(arguments: 0...8)
  func `a piece that wraps at the ring's end is read as one`(split: Int) {
    let layout = DeviceLayout(interleaved: .s16LE, channelCount: 2)
    let memory = DeviceBuffer(layout, frameCount: 8)
    // The piece begins `split` frames before the ring buffer's end and continues at its start.
    let piece = DeviceFrames(
      first: memory.memory + (8 - split) * layout.frameStride, second: memory.memory,
      firstCount: split, frameCount: 8, layout: layout)
    var samples = SampleBuffer(frameCount: 8, channelCount: 2)
    for index in 0..<16 { samples[index] = Float(index + 1) / 32768 }
    _ = piece.encode(samples, from: 0, frames: 8, at: 0)
    var back = SampleBuffer(frameCount: 8, channelCount: 2)
    piece.decode(from: 0, frames: 8, into: &back, at: 0)
    for index in 0..<16 { #expect(back[index] == samples[index]) }
    piece.decode(from: 3, frames: 4, into: &back, at: 0)
    for index in 0..<8 { #expect(back[index] == samples[index + 6]) }
    // The highest magnitude is that of both parts.
    for (frames, peak) in [(8, 16), (3, 6)] as [(Int, Float)] {
      let found = piece.decode(from: 0, frames: frames, into: &back, at: 0, measures: true)
      #expect(found == peak / 32768)
    }
  }

  @Test(arguments: SampleFormat.allCases)
  func `the highest magnitude is known only of measured samples of 16 bits`(format: SampleFormat) {
    let device = DeviceBuffer(format: format, channelCount: 2, frameCount: 8)
    var samples = SampleBuffer(frameCount: 8, channelCount: 2)
    samples[5] = -1
    let frames = device.frames(8)
    _ = frames.encode(samples, from: 0, frames: 8, at: 0)
    let measured = frames.decode(from: 0, frames: 8, into: &samples, at: 0, measures: true)
    #expect(measured == (format == .s16LE ? 1 : .infinity) && samples[5] == -1)
    let unmeasured = frames.decode(from: 0, frames: 8, into: &samples, at: 0)
    #expect(unmeasured == .infinity)
  }

  private func passes(_ samples: borrowing SampleBuffer, through format: SampleFormat) -> Bool {
    let count = samples.frameCount
    var device = DeviceBuffer(
      format: format, channelCount: samples.channelCount, frameCount: count)
    device.store(samples, from: 0, frames: count)
    var back = SampleBuffer(frameCount: count, channelCount: samples.channelCount)
    device.load(frames: count, into: &back, at: 0)
    for index in 0..<samples.sampleCount where back[index] != samples[index] { return false }
    return true
  }
}
