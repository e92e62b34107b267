import AudioBasics
import AudioLevels
import Glibc
import Testing

/// Tests with signals and tolerances of EBU Tech 3341 (tables 1 to 3), EBU Tech 3342 (table 1),
/// ITU-R BS.1770.
@Suite struct LoudnessTests {
  /// Adds a sine to the meter.
  private func add(
    _ seconds: Double, dBFS: Double, hertz: Double = 1000, sampleRate: Int = 48000,
    channels: [Bool] = [true, true], to meter: inout LoudnessMeter
  ) {
    // One second at a time, a whole number of periods of every frequency used.
    let frames = Int(rounding: seconds * Double(sampleRate))
    var buffer = SampleBuffer(frameCount: min(sampleRate, frames), channelCount: channels.count)
    let amplitude = pow(10, dBFS / 20)
    for frame in 0..<buffer.frameCount {
      let angle = 2 * .pi * hertz * Double(frame) / Double(sampleRate)
      let sample = Float(amplitude * sin(angle))
      for (channel, sounds) in channels.enumerated() where sounds {
        buffer[frame * channels.count + channel] = sample
      }
    }
    var rest = frames
    while rest > 0 {
      let count = min(rest, buffer.frameCount)
      meter.add(buffer, frames: count)
      rest -= count
    }
  }

  private func meter(_ sampleRate: Int = 48000, channelCount: Int = 2) -> LoudnessMeter {
    LoudnessMeter(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Returns whether `value` is `expected` within `tolerance`.
  private func isNear(_ value: Double?, _ expected: Double, by tolerance: Double = 0.1) -> Bool {
    value.map { abs($0 - expected) <= tolerance } ?? false
  }

  @Test(arguments: [-23.0, -33])
  func `a steady tone has equal momentary, short-term and integrated loudness`(level: Double) {
    var meter = meter()
    add(20, dBFS: level, to: &meter)
    let levels = meter.levels
    #expect(isNear(levels.momentaryLUFS, level) && isNear(levels.shortTermLUFS, level))
    #expect(isNear(levels.integratedLUFS, level))
    #expect(isNear(levels.maximumMomentaryLUFS, level))
    #expect(isNear(levels.maximumShortTermLUFS, level))
    let peaks = meter.samplePeaks
    #expect(peaks == levels.samplePeaks)
    #expect(peaks.allSatisfy { abs(Double($0) - pow(10, level / 20)) < 1e-6 })
  }

  @Test(arguments: [
    [(10.0, -36.0), (60.0, -23.0), (10.0, -36.0)],
    [(10.0, -72.0), (10.0, -36.0), (60.0, -23.0), (10.0, -36.0), (10.0, -72.0)],
    [(20.0, -26.0), (20.1, -20.0), (20.0, -26.0)],
  ])
  func `much quieter passages do not count in the integrated loudness`(
    programme: [(Double, Double)]
  ) {
    // A lower rate is faster, and the weight of 1 kHz is the same.
    var meter = meter(16000)
    for (seconds, level) in programme {
      add(seconds, dBFS: level, sampleRate: 16000, to: &meter)
    }
    #expect(isNear(meter.levels.integratedLUFS, -23))
  }

  @Test func `short-term loudness is constant for alternations that last three seconds`() {
    var meter = meter()
    var steps: [Double?] = []
    for turn in 0..<5 {
      for (seconds, level) in [(1.34, -20.0), (1.66, -30)] {
        for _ in 0..<Int(rounding: seconds * 50) {
          add(0.02, dBFS: level, to: &meter)
          if turn > 0 { steps.append(meter.levels.shortTermLUFS) }
        }
      }
    }
    #expect(steps.count == 600 && steps.allSatisfy { isNear($0, -23) })
  }

  @Test func `momentary loudness is constant for alternations that last 400 ms`() {
    var meter = meter()
    var steps: [Double?] = []
    for turn in 0..<25 {
      for (seconds, level) in [(0.18, -20.0), (0.22, -30)] {
        for _ in 0..<Int(rounding: seconds * 50) {
          add(0.02, dBFS: level, to: &meter)
          if turn > 2 { steps.append(meter.levels.momentaryLUFS) }
        }
      }
    }
    #expect(steps.count == 440 && steps.allSatisfy { isNear($0, -23) })
  }

  @Test(arguments: [0, 7, 13])
  func `the maximum loudness is found wherever it begins`(offset: Int) {
    var meter = meter()
    add(Double(offset) * 0.02 + 0.003, dBFS: -200, to: &meter)
    add(0.4, dBFS: -23, to: &meter)
    add(1, dBFS: -200, to: &meter)
    let moment = meter.levels
    #expect(isNear(moment.maximumMomentaryLUFS, -23))
    #expect(moment.momentaryLUFS.map { $0 < -70 } ?? true)
    add(Double(offset) * 0.15, dBFS: -200, to: &meter)
    add(3, dBFS: -13, to: &meter)
    add(1, dBFS: -200, to: &meter)
    #expect(isNear(meter.levels.maximumShortTermLUFS, -13))
  }

  @Test(arguments: [
    ([-20.0, -30.0], 10.0), ([-20.0, -15.0], 5.0), ([-40.0, -20.0], 20.0),
    ([-50.0, -35.0, -20.0, -35.0, -50.0], 15.0),
  ])
  func `the loudness range is the difference between quiet and loud passages`(
    steps: [Double], range: Double
  ) {
    var meter = meter(8000)
    for level in steps { add(20, dBFS: level, sampleRate: 8000, to: &meter) }
    #expect(isNear(meter.levels.loudnessRangeLU, range, by: 1))
  }

  @Test(arguments: [
    (12000.0, 0.0, 0.5, -6.0), (12000.0, 45.0, 0.5, -6.0), (8000.0, 60.0, 0.5, -6.0),
    (6000.0, 67.5, 0.5, -6.0), (12000.0, 45.0, 1.41, 3.0),
  ])
  func `a peak between two samples is measured`(
    hertz: Double, degrees: Double, amplitude: Double, expected: Double
  ) {
    var meter = meter(channelCount: 1)
    var buffer = SampleBuffer(frameCount: 9600, channelCount: 1)
    for frame in 0..<buffer.frameCount {
      let angle = 2 * .pi * (hertz * Double(frame) / 48000 + degrees / 360)
      // The signal fades in, because an abrupt start overshoots.
      let fade = min(1, Double(frame) / 2400)
      buffer[frame] = Float(amplitude * fade * sin(angle))
    }
    meter.add(buffer, frames: buffer.frameCount)
    let peaks = meter.levels.truePeaks.map { 20 * log10(Double($0)) }
    #expect(peaks.allSatisfy { $0 > expected - 0.4 && $0 < expected + 0.2 })
  }

  @Test(arguments: [192_000, 384_000])
  func `from 192 kHz on the true peak is the sample peak`(sampleRate: Int) {
    var meter = meter(sampleRate, channelCount: 1)
    var buffer = SampleBuffer(frameCount: 100, channelCount: 1)
    buffer[50] = -0.7
    meter.add(buffer, frames: 100)
    let peaks = meter.levels.truePeaks
    #expect(peaks == [0.7])
  }

  @Test func `a full-scale tone in one channel is -3.01 LUFS`() {
    var meter = meter()
    add(10, dBFS: 0, hertz: 997, channels: [true, false], to: &meter)
    #expect(isNear(meter.integratedLUFS, -3.01, by: 0.05))
    let peaks = meter.samplePeaks
    #expect(peaks[1] == 0)
  }

  @Test func `silence has no loudness, and NaN does not change later results`() {
    var meter = meter()
    add(4, dBFS: -200, to: &meter)
    let silence = meter.levels
    #expect(silence.integratedLUFS == nil && silence.loudnessRangeLU == nil)
    var broken = SampleBuffer(frameCount: 10, channelCount: 2)
    broken[3] = .nan
    broken[4] = .infinity
    meter.add(broken, frames: 10)
    add(20, dBFS: -23, to: &meter)
    let levels = meter.levels
    #expect(isNear(levels.integratedLUFS, -23))
    #expect(levels.meanSquares.allSatisfy { abs($0 - 0.002506 * 20 / 24) < 1e-5 })
    #expect(levels.truePeaks[1].isFinite)
  }

  @Test(arguments: 1...9)
  func `each channel has its own peak and its own clipped samples`(channelCount: Int) {
    for frames in [1, 3, 8, 57] {
      var meter = meter(channelCount: channelCount)
      var buffer = SampleBuffer(frameCount: frames, channelCount: channelCount)
      var peaks: [Float] = []
      for channel in 0..<channelCount {
        let peak = Float(channel + 1) / 16
        buffer[(frames - 1 - channel % frames) * channelCount + channel] = -peak
        peaks.append(peak)
      }
      meter.add(buffer, frames: frames)
      #expect(meter.samplePeaks == peaks)
      // In one channel only, from the first frame on.
      let loud = channelCount / 2
      for frame in 0..<min(3, frames) { buffer[frame * channelCount + loud] = 1 }
      meter.add(buffer, frames: frames)
      peaks[loud] = 1
      #expect(meter.samplePeaks == peaks)
      let clipped = frames == 1 ? 0 : 3
      #expect(meter.levels.clippedSamples == (0..<channelCount).map { $0 == loud ? clipped : 0 })
      // A value that is not a number (NaN) has no peak, and the peaks of the other channels are
      // kept.
      buffer[(frames - 1) * channelCount + loud] = .nan
      buffer[(frames - 1) * channelCount + (loud + 1) % channelCount] =
        channelCount > 1 ? 0.75 : .nan
      let before = meter.levels.meanSquares
      meter.add(buffer, frames: frames)
      if channelCount > 1 { peaks[(loud + 1) % channelCount] = 0.75 }
      #expect(meter.samplePeaks == peaks)
      #expect(meter.levels.meanSquares == before)
    }
  }

  @Test func `a meter without input has zero peaks and no loudness`() {
    let levels = meter().levels
    #expect(levels.samplePeaks == [0, 0] && levels.truePeaks == [0, 0])
    #expect(levels.meanSquares == [0, 0] && levels.clippedSamples == [0, 0])
    #expect(levels.momentaryLUFS == nil && levels.maximumShortTermLUFS == nil)
  }

  @Test func `mean square and DC offset are measured for each channel`() {
    var meter = meter(channelCount: 2)
    var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
    for frame in 0..<1000 {
      buffer[frame * 2] = frame % 2 == 0 ? 0.75 : -0.25
      buffer[frame * 2 + 1] = -0.125
    }
    for _ in 0..<3 { meter.add(buffer, frames: 1000) }
    let levels = meter.levels
    #expect(levels.offsets == [0.25, -0.125])
    #expect(levels.meanSquares == [0.3125, 0.015625])
  }

  @Test func `two samples at full scale are clipped, one alone is not`() {
    var meter = meter(channelCount: 2)
    var buffer = SampleBuffer(frameCount: 20, channelCount: 2)
    let sixteenBitTop: Float = 32767.0 / 32768
    // A single sample, a run of three, and a run of two across the boundary of two calls.
    for (frame, sample) in [(3, -1), (7, sixteenBitTop), (8, 1), (9, 1.5), (19, 1), (0, 1)] {
      buffer[frame * 2] = sample
    }
    // Many samples, but never two in a row.
    for frame in stride(from: 0, to: 20, by: 2) { buffer[frame * 2 + 1] = 1 }
    meter.add(buffer, frames: 20)
    let first = meter.levels.clippedSamples
    #expect(first == [3, 0])
    meter.add(buffer, frames: 20)
    let second = meter.levels.clippedSamples
    #expect(second == [8, 0])
  }

  @Test func `splitting the input into calls does not change the levels`() {
    var whole = meter(channelCount: 1)
    var pieces = meter(channelCount: 1)
    var buffer = SampleBuffer(frameCount: 100_000, channelCount: 1)
    for frame in 0..<buffer.frameCount {
      buffer[frame] = Float(0.3 * sin(Double(frame * frame % 9973) * 0.01))
    }
    whole.add(buffer, frames: buffer.frameCount)
    var done = 0
    while done < buffer.frameCount {
      let count = min(1 + done % 1777, buffer.frameCount - done)
      pieces.add(buffer, from: done, frames: count)
      done += count
    }
    var expected = whole.levels
    var found = pieces.levels
    // Sums of doubles depend on the grouping of their terms.
    #expect(abs(expected.meanSquares[0] - found.meanSquares[0]) < 1e-12)
    #expect(abs(expected.offsets[0] - found.offsets[0]) < 1e-12)
    expected.meanSquares = []
    found.meanSquares = []
    expected.offsets = []
    found.offsets = []
    #expect(expected == found)
  }

  @Test func `an output's frames beyond full scale are counted once each`() {
    var levels = OutputLevels(sampleRate: 48000, channelCount: 2)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    for frame in 0..<64 { buffer[2 * frame] = frame % 2 == 0 ? 1 : -1 }
    levels.add(buffer, frames: 64)
    let atFullScale = levels.clippedFrames
    #expect(atFullScale == 0)
    for index in [10, 11, 20, 127] { buffer[index] = -1.25 }
    buffer[30] = .nan
    levels.add(buffer, frames: 63)
    let withoutTheLast = levels.clippedFrames
    #expect(withoutTheLast == 2)
    levels.add(buffer, frames: 64)
    let all = levels.clippedFrames
    let peak = levels.truePeak
    #expect(all == 5 && peak >= 1.25 && peak < 2)
  }

  @Test(arguments: [1, 2, 3, 6], [44100, 96000, 192_000])
  func `an output's true peak is the highest of its channels, for any block size`(
    channelCount: Int, sampleRate: Int
  ) {
    let frames = 8000
    var sound = SampleBuffer(frameCount: frames, channelCount: channelCount)
    var state: UInt32 = 1
    for sample in 0..<sound.sampleCount {
      state = state &* 1_664_525 &+ 1_013_904_223
      // Noise with a growing level, so that every part may be the loudest so far.
      let noise = Float(state >> 8) / Float(1 << 24) - 0.5
      sound[sample] = noise * Float(sample % 4000 + 4000) / 8000
    }
    var meter = LoudnessMeter(sampleRate: sampleRate, channelCount: channelCount)
    meter.add(sound, frames: frames)
    let expected = meter.levels.truePeaks.max() ?? 0
    for piece in [1, 7, 16, 64, 100, 1000] {
      var levels = OutputLevels(sampleRate: sampleRate, channelCount: channelCount)
      var part = SampleBuffer(frameCount: piece, channelCount: channelCount)
      var done = 0
      while done < frames {
        let count = min(piece, frames - done)
        part.replace(at: 0, with: sound, from: done, frames: count)
        levels.add(part, frames: count)
        done += count
      }
      let peak = levels.truePeak
      #expect(abs(peak - expected) <= 1e-5 * expected)
    }
  }

  @Test func `levels are given in decibels, and silence is -200`() {
    var meter = meter()
    add(1, dBFS: -20, channels: [true, false], to: &meter)
    let levels = meter.levels
    #expect(isNear(levels.peakDBFS[0], -20, by: 0.01) && levels.peakDBFS[1] == -200)
    #expect(isNear(levels.truePeakDBTP[0], -20, by: 0.05) && levels.truePeakDBTP[1] == -200)
    #expect(isNear(levels.rmsDBFS[0], -23.01, by: 0.01) && levels.rmsDBFS[1] == -200)
    #expect(ProgrammeLevels.nothing.peakDBFS.isEmpty && ProgrammeLevels.nothing.rmsDBFS.isEmpty)
  }

  @Test
  func `the true peak of a loop of a few frames is found, with and without a louder sample`() {
    let (frames, turn) = (12800, 37)
    var sound = SampleBuffer(frameCount: frames, channelCount: 2)
    var state: UInt32 = 1
    for sample in 0..<2 * turn {
      state = state &* 1_664_525 &+ 1_013_904_223
      sound[sample] = Float(state >> 8) / Float(1 << 24) - 0.5
    }
    for sample in 2 * turn..<2 * frames { sound[sample] = sound[sample - 2 * turn] }
    // The louder sample is neither at the edge of a block nor at that of the samples by which
    // blocks are distinguished.
    for louder in [0, 2 * 6010 + 1] {
      if louder > 0 { sound[louder] *= 1.5 }
      var meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
      meter.add(sound, frames: frames)
      var levels = OutputLevels(sampleRate: 48000, channelCount: 2)
      levels.add(sound, frames: frames)
      #expect(levels.truePeak == meter.levels.truePeaks.max())
    }
  }
}
