import LinuxSystem
import RealtimeAudio
import Testing

@testable import SystemDiagnosis

/// Tests of the measurement of wake-up delays.
@Suite struct WakeUpTests {
  @Test func `a measured thread that cannot be created is reported as such`() throws {
    // No machine has memory for such a stack.
    let measurement = try WakeUpMeasurement { () throws(ThreadFailure) in
      try RealtimeThread(
        name: "none", priority: .normal, stackByteCount: 1 << 50, WakeUpMeasurement.WakeUpLoop())
    }
    #expect(throws: ThreadFailure.self) { try measurement.sample(until: .max) }
    let again = try WakeUpMeasurement { () throws(ThreadFailure) in
      try RealtimeThread(
        name: "none", priority: .normal, stackByteCount: 1 << 50, WakeUpMeasurement.WakeUpLoop())
    }
    let found = Machine(files: SystemFiles(root: "/nonexistent"))
      .findings(wakeUps: try again.sample(until: .max))
    let finding = found.first { $0.code == "noThread" }
    #expect(finding?.severity == .problem && finding?.remedy.isEmpty == false)
    #expect(!found.contains { $0.code == "wakeUpsStuck" })
  }
}
