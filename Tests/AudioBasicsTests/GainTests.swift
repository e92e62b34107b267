import AudioBasics
import Testing

@Suite struct GainTests {
  @Test func `factors are limited to their range, and decibels are parsed`() {
    #expect(Gain(factor: .nan) == .silence && Gain(factor: -1) == .silence)
    #expect(
      Gain(factor: .infinity) == Gain(decibels: 60) && Gain(decibels: .nan) == Gain(decibels: -200))
    #expect(Gain(decibels: -200) == .silence && Gain("-200")?.decibels == -200)
    #expect(Gain("0") == .unity && Gain("-6.5") == Gain(decibels: -6.5))
    for text in ["", "loud", "61", "-201", "1e1"] { #expect(Gain(text) == nil, "\(text)") }
    #expect(Gain(decibels: -6).description == "-6.0 dB")
  }

  @Test func `the gain computed on the audio thread is within 0.01 dB of the exact gain`() {
    for step in -600..<2000 {
      let decibels = -Float(step) / 10
      let exact = Gain(decibels: Double(decibels)).decibels
      #expect(abs(Gain(realtimeDecibels: decibels).decibels - exact) < 0.01)
    }
    #expect(Gain(realtimeDecibels: 0) == .unity && Gain(realtimeDecibels: -200) == .silence)
    #expect(Gain(realtimeDecibels: .nan) == .silence)
    #expect(Gain(realtimeDecibels: .infinity) == Gain(realtimeDecibels: 60))
  }

  /// Returns the output of `gain` for `frames` frames of two channels at `level`, processed in
  /// pieces. Checks that the channels are equal.
  private func passed(
    _ gain: inout SmoothedGain, frames: Int, in piece: Int, level: Float
  ) -> [Float] {
    var all: [Float] = []
    while all.count < frames {
      var buffer = SampleBuffer(frameCount: piece, channelCount: 2)
      for index in 0..<buffer.sampleCount { buffer[index] = level }
      gain.process(&buffer, frames: piece)
      for index in 0..<piece {
        #expect(buffer[2 * index] == buffer[2 * index + 1])
        all.append(buffer[2 * index])
      }
    }
    return all
  }

  @Test(arguments: [1, 7, 37, 64, 480, 1000])
  func `a fade-in rises linearly from silence and is then transparent`(piece: Int) {
    var gain = SmoothedGain(.silence)
    #expect(gain.isSilent)
    let muted = passed(&gain, frames: 1000, in: piece, level: .infinity)
    #expect(muted.allSatisfy { $0 == 0 })
    gain.ramp(to: .unity, frames: 480)
    #expect(!gain.isSilent && !gain.isTransparent)
    let risen = passed(&gain, frames: 1000, in: piece, level: 0.3)
    for index in 0..<480 { #expect(abs(risen[index] - 0.3 * Float(index) / 480) < 1e-5) }
    #expect(risen[480...].allSatisfy { $0 == 0.3 } && gain.isTransparent)
  }

  @Test func `a new ramp starts from the current gain`() {
    var gain = SmoothedGain(fadingInTo: .unity, frames: 100)
    _ = passed(&gain, frames: 50, in: 50, level: 1)
    gain.ramp(to: Gain(factor: 0.25), frames: 100)
    let falling = passed(&gain, frames: 200, in: 40, level: 1)
    #expect(abs(falling[0] - 0.5) < 1e-6 && abs(falling[50] - 0.375) < 1e-5)
    #expect(falling[100...].allSatisfy { $0 == 0.25 })
    gain.set(.unity)
    #expect(gain.isTransparent)
  }
}
