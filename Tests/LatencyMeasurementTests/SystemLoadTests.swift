import AudioDevices
import LatencyMeasurement
import Testing

@Suite struct SystemLoadTests {
  @Test func `a disk that cannot be loaded is reported`() {
    let failure = #expect(throws: DeviceFailure.self) { try SystemLoad(folder: "/proc") }
    #expect(failure?.kind == .refused)
    #expect(failure?.message.hasPrefix("The disk cannot be loaded: ") == true)
    #expect(failure?.hint == "Name another folder; TMPDIR names the default one.")
  }
}
