import AudioBasics
import AudioClocks
import Glibc
import Testing

@Suite struct FrameShiftTests {
  @Test(arguments: [0, 0.25, 0.5, 0.9], [1, 7, 1024, 3000])
  func `a tone is shifted by the fraction, in blocks of any size`(fraction: Double, piece: Int) {
    let frames = 3000
    let omega = 2 * Double.pi * 0.3
    var tone = SampleBuffer(frameCount: frames, channelCount: 2)
    for frame in 0..<frames {
      tone[2 * frame] = Float(sin(omega * Double(frame)))
      tone[2 * frame + 1] = Float(cos(omega * Double(frame)))
    }
    var shift = FrameShift(fraction: fraction, channelCount: 2)
    var part = SampleBuffer(frameCount: piece, channelCount: 2)
    var shifted = SampleBuffer(frameCount: frames, channelCount: 2)
    var done = 0
    while done < frames {
      let count = min(piece, frames - done)
      part.replace(at: 0, with: tone, from: done, frames: count)
      shift.process(&part, frames: count)
      shifted.replace(at: done, with: part, from: 0, frames: count)
      done += count
    }
    // The part in which the filter covers only the tone.
    for frame in 100..<frames - 100 {
      let place = Double(frame - FrameShift.delayFrames) + fraction
      #expect(abs(shifted[2 * frame] - Float(sin(omega * place))) < 1e-4)
      #expect(abs(shifted[2 * frame + 1] - Float(cos(omega * place))) < 1e-4)
    }
  }
}
