import AudioBasics
import DelayEstimation
import Testing

/// Tests of recordings in which frames are missing or duplicated within the signal.
@Suite struct DelayJumpTests {
  private static let frames = 60_000
  private static let reference = ProbeSignal(seed: 3, frames: frames).samples
  private static let start = [Float](repeating: 0, count: 1000)

  private func estimate(
    _ recording: [Float], _ choice: DelayEstimator.Choice = .strongest
  ) throws -> DelayEstimate {
    var estimator = DelayEstimator()
    estimator.choice = choice
    let found = estimator.estimate(reference: Self.reference.span, in: recording.span)
    return try #require(found)
  }

  @Test(arguments: [0.3, 0.5, 0.7], [3, 100, 480, 1900, -3, -100])
  func `a jump within the signal is reported as a doubt`(share: Double, jump: Int) throws {
    let cut = Int(rounding: share * Double(Self.frames))
    let silence = [Float](repeating: 0, count: max(0, jump))
    let rest = Self.reference[(cut + max(0, -jump))...]
    let recording = Self.start + Self.reference[..<cut] + silence + rest
    for choice in [DelayEstimator.Choice.strongest, .first] {
      let doubts = try estimate(recording, choice).doubts
      #expect(doubts.contains(.drifting))
    }
  }

  @Test(arguments: [1, 30, 300, 1500], [Float(0.5), -0.9])
  func `an echo is not reported as a jump`(delay: Int, gain: Float) throws {
    var recording = Self.start + Self.reference + [Float](repeating: 0, count: delay)
    for frame in Self.reference.indices {
      recording[1000 + delay + frame] += gain * Self.reference[frame]
    }
    let doubts = try estimate(recording).doubts
    #expect(!doubts.contains(.drifting))
  }

  @Test(arguments: [0.3, 0.7])
  func `noise, a gap and a change of gain are not reported as a jump`(share: Double) throws {
    var recording = Self.start + Self.reference
    let cut = 1000 + Int(rounding: share * Double(Self.frames))
    let noise = ProbeSignal(seed: 4, frames: Self.frames).samples
    for frame in recording.indices.dropFirst(1000) {
      recording[frame] = recording[frame] * (frame < cut ? 1 : 0.1) + 0.3 * noise[frame - 1000]
    }
    for frame in cut - 3000..<cut { recording[frame] = 0 }
    let doubts = try estimate(recording).doubts
    #expect(!doubts.contains(.drifting))
  }
}
