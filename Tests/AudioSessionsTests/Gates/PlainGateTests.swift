import AudioBasics
import AudioSessions
import Testing

/// Tests of gates that do not evaluate samples.
@Suite struct PlainGateTests {
  private let recording = [Float](repeating: 0, count: 1000)

  @Test(
    arguments: [
      (0, nil, [0..<1000]), (300, nil, [300..<1000]), (300, 200, [300..<500]),
      (300, 900, [300..<1000]), (1000, 5, []),
    ] as [(Int, Int?, [Range<Int>])])
  func `a window keeps exactly its frames`(first: Int, frames: Int?, expected: [Range<Int>]) {
    for piece in [1, 64, 2000] {
      var gate = WindowGate(PunchWindow(firstFrame: first, frames: frames))
      let stretches = kept(&gate, of: recording, piece: piece)
      #expect(stretches == expected)
    }
  }

  @Test(
    arguments: [
      (0, nil, [400..<1000]), (100, nil, [300..<1000]), (600, nil, [0..<1000]),
      (100, 50, [300..<450]), (100, 0, [300..<400]), (100, 5000, [300..<1000]),
    ] as [(Int, Int?, [Range<Int>])])
  func `a start keeps the frames of the pre-roll`(
    preRoll: Int, frames: Int?, expected: [Range<Int>]
  ) throws {
    var gate = WindowGate(preRollFrames: preRoll, frames: frames)
    let silence = SampleBuffer(frameCount: 1000, channelCount: 1)
    gate.process(silence, from: 0, frames: 400)
    #expect(gate.nextEdge() == nil)
    #expect(gate.decidedFrame == max(0, 400 - preRoll))
    gate.start()
    gate.process(silence, from: 0, frames: 300)
    gate.start()
    gate.process(silence, from: 0, frames: 300)
    gate.finish()
    let stretch = try #require(expected.first)
    #expect(gate.nextEdge() == .open(stretch.lowerBound))
    #expect(gate.nextEdge() == .close(stretch.upperBound))
    #expect(gate.nextEdge() == nil)
  }

  @Test func `without a start nothing is kept`() {
    var gate = WindowGate(preRollFrames: 100)
    let stretches = kept(&gate, of: recording)
    #expect(stretches == [])
  }
}
