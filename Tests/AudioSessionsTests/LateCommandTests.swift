import AudioBasics
import RealtimeAudio
import Testing

@testable import AudioSessions

/// Tests of commands to a recording while one step of its disk thread writes the queued frames, as
/// with a slow disk.
@Suite struct LateCommandTests {
  /// A gate that keeps all frames, and before each piece calls `body` with the number of frames so
  /// far.
  private struct WatchedGate: RecordingGate {
    private var inner = WindowGate()
    private var frames = 0
    private let body: @Sendable (Int) -> Void

    init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }

    mutating func start() { inner.start() }
    mutating func process(_ buffer: borrowing SampleBuffer, from first: Int, frames count: Int) {
      body(frames)
      frames += count
      inner.process(buffer, from: first, frames: count)
    }
    var needsSamples: Bool { inner.needsSamples }
    mutating func nextEdge() -> GateEdge? { inner.nextEdge() }
    var decidedFrame: Int { inner.decidedFrame }
    mutating func finish() { inner.finish() }
    var lookaheadFrames: Int { inner.lookaheadFrames }
  }

  /// The commands that a gate sends, once their receiver is set.
  private final class Asked: Sendable {
    let control = MutexBox<RecordingControl?>(nil)
    let orders: [(command: RecordingCommand, frame: Int)]

    init(_ orders: [(command: RecordingCommand, frame: Int)]) { self.orders = orders }

    /// Sends all commands while the second piece is written.
    func ask(_ frames: Int) {
      guard frames == RecordingPipeline.chunkFrames else { return }
      let control = control.withLock { $0 }
      for order in orders { control?.request(order.command, at: order.frame) }
    }
  }

  private func record(
    _ orders: [(command: RecordingCommand, frame: Int)], isLast: Bool
  ) throws -> RecordingRig {
    let asked = Asked(orders)
    let rig = try RecordingRig(gate: WatchedGate(asked.ask))
    asked.control.withLock { $0 = rig.writer.control }
    rig.record(40_000)
    if !isLast { rig.save() }
    rig.finish()
    return rig
  }

  @Test(arguments: [false, true])
  func `markers, splits and pauses are at their frames, in the last step as well`(isLast: Bool)
    throws
  {
    let rig = try record(
      [
        (.mark("one"), 9000), (.pause, 12_000), (.resume, 20_000), (.split, 26_000),
        (.mark("two"), 30_000),
      ], isLast: isLast)
    let report = rig.writer.report
    #expect(report.frames == 32_000)
    #expect(report.files.map(\.frames) == [18_000, 14_000])
    #expect(report.markers.map(\.frame) == [9000, 22_000])
    #expect(report.pauses.map(\.timelineFrame) == [12_000])
    #expect(report.pauses.map(\.frames) == [8000])
  }

  @Test func `commands are executed in order, however many are queued`() {
    var points = RecordingCommandPoints()
    var model: [(frame: Int, point: RecordingCommandPoints.Point)] = []
    var random = SystemRandomNumberGenerator()
    var position = 0
    for round in 0..<400 {
      for number in 0..<Int.random(in: 0...6, using: &random) {
        let frame = position + Int.random(in: -20...60, using: &random)
        let point = RecordingCommandPoints.Point.command(.mark("\(round).\(number)"))
        points.add(point, at: frame)
        model.insert((frame, point), at: model.firstIndex { $0.frame > frame } ?? model.count)
      }
      #expect(
        points.nextFrame(after: position) == model.first { $0.frame > position }?.frame ?? .max)
      position += Int.random(in: 0...20, using: &random)
      // Every fifth round no command is taken, as while a gate is closed.
      guard round % 5 != 0 else { continue }
      while let first = model.first, first.frame <= position {
        model.removeFirst()
        let taken = points.take(upTo: position)
        #expect(taken?.frame == first.frame && taken?.point == first.point)
      }
      #expect(points.take(upTo: position) == nil)
    }
  }
}
