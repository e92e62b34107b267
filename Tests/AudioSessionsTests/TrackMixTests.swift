import AudioBasics
import AudioFiles
import Testing

@testable import AudioSessions

@Suite struct TrackMixTests {
  /// A source of the samples 1, 2, 3, ... times `step`, which fails after `frameCount` frames.
  private final class Staircase: FrameSource {
    private let step: Float
    private let frameCount: Int
    private var position = 0

    init(step: Float, frameCount: Int) {
      self.step = step
      self.frameCount = frameCount
    }

    var nonFiniteCount: Int { 0 }

    func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
      let count = min(frames, frameCount - position)
      guard count > 0 else {
        throw FileFailure(.unusableContents, "The file is damaged.", hint: "Repair it.")
      }
      for frame in 0..<count { buffer[frame] = step * Float(position + frame + 1) }
      position += count
      return count
    }
  }

  /// Returns the samples of a staircase with this step from frame `first` to before frame `end`.
  private func stairs(_ step: Float, from first: Int = 0, to end: Int) -> [Float] {
    (first..<end).map { step * Float($0 + 1) }
  }

  /// Returns the output of `mix`, read ten frames at a time, until it ends or 100 frames were read.
  private func play(_ mix: TrackMix) throws -> [Float] {
    var buffer = SampleBuffer(frameCount: 10, channelCount: 1)
    var heard: [Float] = []
    while heard.count < 100 {
      let count = try mix.read(into: &buffer, frames: 10)
      guard count > 0 else { break }
      for frame in 0..<count { heard.append(buffer[frame]) }
    }
    return heard
  }

  @Test(arguments: [0, 1, 2])
  func `if the selected source fails, another one continues in step`(chosen: Int) throws {
    let sources = (0..<3).map {
      Staircase(step: $0 == chosen ? 1000 : 1, frameCount: $0 == chosen ? 20 : 1000)
    }
    let mix = TrackMix(sources, channelCount: 1)
    mix.chosen = chosen
    let heard = try play(mix)
    #expect(heard == stairs(1000, to: 20) + stairs(1, from: 20, to: 100))
    #expect(mix.takeFailures().map(\.index) == [chosen])
    // A source that has failed is not played again.
    mix.chosen = chosen
    let more = try play(mix)
    #expect(more == stairs(1, from: 100, to: 200))
  }

  @Test func `a mix is finished when all sources have failed`() throws {
    let mix = TrackMix(
      [Staircase(step: 1, frameCount: 20), Staircase(step: 2, frameCount: 30)], channelCount: 1)
    mix.chosen = 0
    let heard = try play(mix)
    #expect(heard == stairs(1, to: 20) + stairs(2, from: 20, to: 30))
    #expect(mix.takeFailures().map(\.index) == [0, 1])
  }

  @Test func `the other sources of a mix continue without one that fails`() throws {
    let mix = TrackMix(
      [Staircase(step: 1, frameCount: 20), Staircase(step: 2, frameCount: 1000)], channelCount: 1)
    let heard = try play(mix)
    #expect(heard == stairs(3, to: 20) + stairs(2, from: 20, to: 100))
  }
}
