import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of a unit's events for gaps whose length the device reports late.
@Suite struct UnitTimelineTests {
  private static let xrun: DeviceStatus = {
    var status = DeviceStatus()
    status.readiness = .xrun(.captureXrun)
    return status
  }()

  /// Returns the events of a unit whose device returns these statuses, one per cycle.
  private func events(_ statuses: [DeviceStatus]) throws -> [TimelineEvent] {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var unit = DuplexUnit(
      device: ReportingDevice(
        statuses, events: [], isEmpty: false, hasCapture: true, log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: UnitProgress(), events: writer)
    try unit.start()
    for _ in statuses { _ = unit.cycle() }
    unit.stop()
    var events: [TimelineEvent] = []
    while let event = reader.read() { events.append(event) }
    return events
  }

  /// The progress of a unit, shared with its callbacks.
  private final class Shown: Sendable {
    let progress = UnitProgress()
    let seen = MutexBox<[Bool]>([])
  }

  /// Callbacks that record whether the unit reports that it is in a callback.
  private struct Looking: DuplexCallbacks {
    let shown: Shown
    mutating func input(_ input: borrowing InputCycle) {
      shown.seen.withLock { $0.append(shown.progress.isInCallback) }
    }
    mutating func output(_ output: inout OutputCycle) {
      shown.seen.withLock { $0.append(shown.progress.isInCallback) }
    }
  }

  @Test func `isInCallback is true exactly while a callback runs`() throws {
    let shown = Shown()
    let statuses: [DeviceStatus] = [.ready(bridged: nil), Self.xrun, .ready(lost: 5)]
    var unit = DuplexUnit(
      device: ReportingDevice(
        statuses, events: [], isEmpty: false, hasCapture: true, log: MutexBox(.init())),
      callbacks: Looking(shown: shown), progress: shown.progress)
    try unit.start()
    for _ in 0..<2 {
      _ = unit.cycle()
      let isInCallback = shown.progress.isInCallback
      #expect(!isInCallback)
    }
    _ = unit.cycle()
    unit.stop()
    let seen = shown.seen.withLock { $0 }
    #expect(seen.count >= 2 && seen.allSatisfy { $0 })
  }

  @Test func `frames lost while a gap is open are reported with the gap`() throws {
    let reported = try events([.ready(lost: 100, bridged: nil), .ready(bridged: 10)])
    #expect(reported == [TimelineEvent(kind: .captureXrun, frame: 132, frames: 110)])
  }

  @Test(arguments: [[], [xrun]])
  func `each capture xrun that an event reports is counted once`(before: [DeviceStatus]) throws {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    let progress = UnitProgress()
    // A sound server's input drops frames without an xrun.
    let statuses = before + [DeviceStatus.ready(lost: 100), .ready(), .ready(lost: 7), .ready()]
    var unit = DuplexUnit(
      device: ReportingDevice(
        statuses, events: [], isEmpty: false, hasCapture: true, log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: progress, events: writer)
    try unit.start()
    for _ in statuses { _ = unit.cycle() }
    unit.stop()
    var lengths: [Int] = []
    while let event = reader.read() { lengths.append(event.frames) }
    #expect(lengths == [100, 7])
    #expect(progress.captureXruns == 2 && progress.lostFrames == 107)
  }

  @Test func `an xrun with an open gap is reported when the next one occurs`() throws {
    let reported = try events([
      Self.xrun, .ready(bridged: nil), Self.xrun, .ready(lost: 5),
    ])
    #expect(
      reported == [
        TimelineEvent(kind: .captureXrun, frame: 0, frames: 0),
        TimelineEvent(kind: .captureXrun, frame: 32, frames: 5),
      ])
  }

  @Test func `an open gap is reported at the end with all frames up to the end`() throws {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    let progress = UnitProgress()
    var unit = DuplexUnit(
      device: ReportingDevice(
        [.ready(), Self.xrun] + Array(repeating: .ready(bridged: nil), count: 5), events: [],
        isEmpty: false, hasCapture: true, log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: progress, events: writer, frameLimit: 4 * 32)
    try unit.start()
    #expect(unit.run() == nil)
    unit.stop()
    #expect(reader.read() == TimelineEvent(kind: .captureXrun, frame: 32, frames: 96))
    #expect(progress.lostFrames == 96)
  }

  @Test func `an input that is lost after a stop is absent from the stop on`() throws {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    var lost = DeviceStatus.ready(bridged: 0)
    lost.hasEvents = true
    var unit = DuplexUnit(
      device: ReportingDevice(
        [.ready(), Self.xrun, .ready(bridged: nil), lost], events: [DeviceEvent(.captureLost)],
        isEmpty: false, hasCapture: true, log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: UnitProgress(), events: writer, frameLimit: 6 * 32)
    try unit.start()
    #expect(unit.run() == nil)
    unit.stop()
    var events: [TimelineEvent] = []
    while let event = reader.read() { events.append(event) }
    #expect(events.last == TimelineEvent(kind: .captureAbsent, frame: 32, frames: 5 * 32))
  }

  @Test(arguments: [0, nil])
  func `frames that were left out during an absence are counted and reported once`(concealed: Int?)
    throws
  {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    let progress = UnitProgress()
    var lost = DeviceStatus()
    lost.hasEvents = true
    var unit = DuplexUnit(
      device: ReportingDevice(
        [.ready(), lost, .ready(), .ready(lost: 100, bridged: concealed), .ready()],
        events: [DeviceEvent(.captureLost)], isEmpty: false, hasCapture: true,
        log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: progress, events: writer)
    try unit.start()
    for _ in 0..<5 { _ = unit.cycle() }
    progress.requestStop()
    _ = unit.cycle()
    unit.stop()
    #expect(progress.frames == 4 * 32 + 100)
    #expect(progress.lostFrames == 3 * 32 + 100)
    #expect(reader.read() == TimelineEvent(kind: .captureLost, frame: 32, frames: 0))
    #expect(reader.read() == TimelineEvent(kind: .captureAbsent, frame: 32, frames: 3 * 32 + 100))
    #expect(reader.read() == nil)
  }

  @Test func `a pause of the output is an xrun`() throws {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    let progress = UnitProgress()
    var paused = DeviceStatus.ready()
    paused.hasEvents = true
    var unit = DuplexUnit(
      device: ReportingDevice(
        [.ready(), paused, .ready()], events: [DeviceEvent(.playbackXrun)], isEmpty: false,
        hasCapture: false, log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: progress, events: writer)
    try unit.start()
    for _ in 0..<3 { _ = unit.cycle() }
    unit.stop()
    #expect(reader.read() == TimelineEvent(kind: .playbackXrun, frame: 32, frames: 0))
    #expect(progress.playbackXruns == 1 && progress.lostFrames == 0)
  }

  @Test(arguments: [true, false])
  func `only a server's output pauses without an xrun`(isServer: Bool) {
    var pause = OutputPause(bufferFrames: isServer ? 4800 : 0, sampleRate: 48000)
    func found(at milliseconds: UInt64) -> Bool {
      pause.note(readyAt: milliseconds * 1_000_000)
      return pause.takeEvent() != nil
    }
    let times: [UInt64] = [1000, 1100, 1299, 1600, 1605]
    let pauses = times.map { found(at: $0) }
    #expect(pauses == [false, false, false, isServer, false])
    // The server reported an xrun, and the output was started again.
    pause.restart()
    #expect(!found(at: 4000))
  }

  @Test func `the output callback is called although the output has no room`() throws {
    let log = MutexBox(ReportingDevice.Log())
    let starts = MutexBox<[Int]>([])
    let progress = UnitProgress()
    var unit = DuplexUnit(
      device: ReportingDevice(
        [], events: [], isEmpty: false, hasCapture: true, fullCycles: [1, 4], log: log),
      callbacks: DuplexClosures(
        output: { output in
          output.silence()
          starts.withLock { $0.append(output.time.frame) }
        }), progress: progress, frameLimit: 6 * 32)
    try unit.start()
    #expect(unit.run() == nil)
    unit.stop()
    #expect(starts.withLock { $0 } == [0, 32, 64, 96, 128, 160])
    #expect(log.withLock { $0.played } == 4 * 32)
    #expect(progress.frames == 6 * 32 && progress.playbackXruns == 2 && progress.lostFrames == 64)
  }

  @Test func `an open gap is reported if the device is finally lost`() throws {
    let writer = EventWriter<TimelineEvent>()
    var reader = writer.makeReader()
    let progress = UnitProgress()
    var lost = DeviceStatus()
    lost.readiness = .lost
    var unit = DuplexUnit(
      device: ReportingDevice(
        [.ready(), Self.xrun] + Array(repeating: .ready(bridged: nil), count: 3) + [lost],
        events: [], isEmpty: false, hasCapture: true, log: MutexBox(.init())),
      callbacks: DuplexClosures(), progress: progress, events: writer)
    try unit.start()
    #expect(unit.run() != nil)
    unit.stop()
    #expect(reader.read() == TimelineEvent(kind: .captureXrun, frame: 32, frames: 96))
    #expect(progress.lostFrames == 96)
  }

  @Test func `the latency of impossible numbers is a number`() {
    let configuration = DuplexConfiguration(
      sampleRate: 48000, periodFrames: .max, headroomFrames: .max, capture: nil, playback: nil)
    #expect(configuration.latencyFrames == 2 * Double(Int.max))
  }
}
