import AudioDevices
import RealtimeAudio
import SimulatedDevices

/// Looks in the mixer of an input that delivers nothing but digital silence for the reason, on a thread
/// of its own: the mixer may be a sound server's, which may not answer.
enum SilenceSearch {
  /// What the mixer of `device` says, or what is known without, where it takes longer than `milliseconds`.
  /// A simulated device has no mixer.
  static func notice(of device: String, within milliseconds: Int) -> Notice {
    let found = MutexBox<Notice?>(nil)
    guard !SimulatedDeviceSpecification.isSimulated(device),
      let thread = try? RealtimeThread(
        name: "duplex-mixer", priority: .normal, Work(device: device, found: found))
    else { return unknown }
    let end = HostClock.nanoseconds + UInt64(clamping: milliseconds) * 1_000_000
    while HostClock.nanoseconds < end {
      if let notice = found.withLock({ $0 }) {
        _ = thread.join()
        return notice
      }
      HostClock.pause(milliseconds: 2)
    }
    thread.abandon()
    return unknown
  }

  private struct Work: RealtimeWork, ~Copyable, Sendable {
    let device: String
    let found: MutexBox<Notice?>

    mutating func run() {
      let controls = (try? CardMixers.controls(of: device, isCapture: true)) ?? []
      let notice = CardMixers.silencing(controls).map { SilenceSearch.notice(of: $0, device) }
      found.withLock { $0 = notice ?? SilenceSearch.unknown }
    }
  }

  /// Where no reason is known.
  private static let unknown = Notice.warning(
    "onlySilence", "Only silence came in: is the microphone muted?",
    hint: "Look at its switch, its cable, and which channel it is on.")

  private static func notice(of control: MixerControl, _ device: String) -> Notice {
    if control.isOn == false {
      return .warning(
        "captureSwitchOff",
        "Only silence comes in: the capture switch of \(control.name) on \(device) is off.",
        hint: "Turn it on in alsamixer, with F4 and the space bar.")
    }
    return .warning(
      "captureVolumeZero",
      "Only silence comes in: the capture volume of \(control.name) on \(device) is at zero.",
      hint: "Raise it in alsamixer, or with --capture-volume 80%.")
  }
}
