import RealtimeAudio
import Testing

@testable import AudioDevices

/// What a unit tells of gaps whose length its device knows late.
@Suite struct UnitTimelineTests {
  private static let xrun: DeviceStatus = {
    var status = DeviceStatus()
    status.readiness = .xrun(.captureXrun)
    return status
  }()

  /// The events of a unit whose device answers with these statuses, one a turn.
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

  @Test func `frames lost while a gap is open are told with it`() throws {
    let told = try events([.ready(lost: 100, bridged: nil), .ready(bridged: 10)])
    #expect(told == [TimelineEvent(kind: .captureXrun, frame: 132, frames: 110)])
  }

  @Test func `an xrun whose gap is open is told when the next one comes`() throws {
    let told = try events([
      Self.xrun, .ready(bridged: nil), Self.xrun, .ready(lost: 5),
    ])
    #expect(
      told == [
        TimelineEvent(kind: .captureXrun, frame: 0, frames: 0),
        TimelineEvent(kind: .captureXrun, frame: 32, frames: 5),
      ])
  }
}
