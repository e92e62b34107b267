import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of a unit whose device is lost.
@Suite struct ReconnectStateTests {
  private static let period = ScriptedDevice.period
  private static let back = DeviceReturn.returned(cards: [2])

  private func failure(_ kind: DeviceFailure.Kind, _ message: String = "No.") -> DeviceFailure {
    DeviceFailure(kind, message, hint: "Wait.")
  }

  /// The results of a number of cycles of a unit on a scripted device.
  private struct Outcome {
    var events: [TimelineEvent] = []
    var returns: [DeviceReturn] = []
    var frames = 0
    var lostFrames = 0
    var captureXruns = 0
    /// The number of lost frames reported to the input callback.
    var callbackLostFrames = 0
    var failure: DeviceFailure?
  }

  private func run(
    _ device: consuming ScriptedDevice, cycles: Int, frameLimit: Int? = nil, reconnects: Bool = true
  ) throws -> Outcome {
    let progress = UnitProgress()
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    let lost = MutexBox(0)
    var unit = DuplexUnit(
      device: device,
      callbacks: DuplexClosures(input: { cycle in
        let frames = cycle.time.lostFrames
        lost.withLock { $0 += frames }
      }), progress: progress, events: writer, frameLimit: frameLimit, reconnects: reconnects)
    try unit.start()
    var outcome = Outcome()
    for _ in 0..<cycles {
      if case .failed(let failure) = unit.cycle() {
        outcome.failure = failure
        break
      }
      if let found = progress.takeReturn() { outcome.returns.append(found) }
    }
    unit.stop()
    while let event = reader.read() { outcome.events.append(event) }
    outcome.frames = progress.frames
    outcome.lostFrames = progress.lostFrames
    outcome.captureXruns = progress.captureXruns
    outcome.callbackLostFrames = lost.withLock { $0 }
    return outcome
  }

  @Test func `a lost device is closed at once, and its return is a gap`() throws {
    let log = MutexBox<[String]>([])
    let outcome = try run(
      ScriptedDevice([.ready, .lost], returns: [.absent, Self.back], log: log), cycles: 5)
    let calls = log.withLock { $0 }
    #expect(calls == ["let go"])
    #expect(outcome.returns == [Self.back])
    #expect(
      outcome.events == [
        TimelineEvent(kind: .deviceLost, frame: Self.period, frames: 0),
        TimelineEvent(kind: .deviceReturned, frame: Self.period, frames: 3 * Self.period),
      ])
    #expect(outcome.frames == 5 * Self.period && outcome.captureXruns == 0)
  }

  @Test func `a gap is reported although the first period after it is empty`() throws {
    let outcome = try run(ScriptedDevice([.ready, .xrun, .empty, .ready]), cycles: 5)
    #expect(outcome.lostFrames == Self.period)
    #expect(outcome.callbackLostFrames == outcome.lostFrames)
  }

  @Test func `a device that delivers nothing for five seconds is lost, and reconnected`() throws {
    let silence = [ScriptedDevice.Answer](repeating: .waiting, count: 50)
    let outcome = try run(ScriptedDevice([.ready] + silence, returns: [Self.back]), cycles: 53)
    #expect(outcome.failure == nil)
    #expect(outcome.events.map(\.kind) == [.deviceLost, .deviceReturned])
    // Without reconnection the unit ends.
    let ended = try run(ScriptedDevice([.ready] + silence), cycles: 53, reconnects: false)
    #expect(ended.failure?.message.contains("has delivered nothing for 5 seconds") == true)
  }

  @Test func `a device that returns only briefly is lost once and returns once`() throws {
    let outcome = try run(
      ScriptedDevice([.ready, .lost, .lost, .lost], returns: [Self.back, Self.back, Self.back]),
      cycles: 8)
    #expect(outcome.events.map(\.kind) == [.deviceLost, .deviceReturned])
    #expect(outcome.events.last?.frames == outcome.lostFrames)
  }

  @Test func `a device that cannot be recovered after an xrun is waited for`() throws {
    let outcome = try run(
      ScriptedDevice([.ready, .xrun], returns: [Self.back], recovers: false), cycles: 4)
    // The xrun has no separate gap: it is part of the absence.
    #expect(outcome.events.map(\.kind) == [.captureXrun, .deviceLost, .deviceReturned])
    #expect(outcome.events.first?.frames == 0)
    #expect(outcome.events.last?.frames == outcome.lostFrames)
  }

  @Test(arguments: [true, false])
  func `a device that is lost after several starts without a frame had one xrun`(reconnects: Bool)
    throws
  {
    let outcome = try run(
      ScriptedDevice([.ready, .xrun, .ready, .xrun, .xrun, .xrun, .lost], returns: [Self.back]),
      cycles: 9, reconnects: reconnects)
    #expect(outcome.events.count { $0.kind == .captureXrun } == 2)
    #expect(outcome.captureXruns == 2)
    #expect((outcome.failure == nil) == reconnects)
  }

  @Test func `an xrun between a return and its first frame is counted and reported once`() throws {
    let outcome = try run(
      ScriptedDevice([.ready, .lost, .xrun, .xrun, .ready], returns: [Self.back]), cycles: 9)
    #expect(outcome.events.map(\.kind) == [.deviceLost, .captureXrun, .deviceReturned])
    #expect(outcome.captureXruns == 1)
    #expect(outcome.events.last?.frames == outcome.lostFrames)
  }

  @Test func `a return with other settings is reported once, and waiting continues`() throws {
    let refusal = DeviceReturn.refused(failure(.refused))
    let outcome = try run(
      ScriptedDevice([.ready, .lost], returns: [refusal, refusal, refusal, Self.back]), cycles: 8)
    #expect(outcome.returns == [refusal, Self.back])
  }

  @Test(arguments: [DeviceFailure.Kind.busy, .permissionDenied])
  func `a device that is busy on its return is reported only after two seconds`(
    kind: DeviceFailure.Kind
  ) throws {
    let refusal = DeviceReturn.refused(failure(kind))
    let brief = try run(
      ScriptedDevice(
        [.ready, .lost], returns: Array(repeating: refusal, count: 19) + [Self.back]), cycles: 24)
    #expect(brief.returns == [Self.back])
    let long = try run(
      ScriptedDevice(
        [.ready, .lost], returns: Array(repeating: refusal, count: 60) + [Self.back]), cycles: 64)
    #expect(long.returns == [refusal, Self.back])
  }

  @Test(arguments: [1, 2, 5, 40])
  func `the frame limit is reached in real time during an absence`(periods: Int) throws {
    let limit = Self.period * (1 + periods) - 7
    let outcome = try run(
      ScriptedDevice([.ready, .lost]), cycles: 2 + periods, frameLimit: limit)
    #expect(outcome.frames == limit && outcome.lostFrames == limit - Self.period)
    #expect(outcome.events.last?.kind == .deviceAbsent)
    // Two polls earlier the limit is not reached; the poll that finds the device lost is one of
    // them.
    let early = try run(ScriptedDevice([.ready, .lost]), cycles: periods, frameLimit: limit)
    #expect(early.frames == Self.period)
  }

  @Test(arguments: [
    (DeviceFailure.Kind.refused, 1), (.invalidRequest, 1), (.busy, 20), (.permissionDenied, 20),
  ])
  func `a refused device is reported once, and after 20 polls if rights may come later`(
    kind: DeviceFailure.Kind, look: Int
  ) {
    var report = ReconnectReport()
    let found = DeviceReturn.refused(DeviceFailure(kind, "It cannot be had.", hint: "Wait."))
    let reported = (1...60).filter { _ in report.shouldReport(found) }
    #expect(reported == [look])
    let news = [DeviceReturn.absent, .returned(cards: [])].map { report.shouldReport($0) }
    #expect(news == [false, true])
  }
}
