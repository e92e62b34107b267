import AudioDevices
import RealtimeAudio
import SimulatedDevices

/// Searches the mixer of an input that delivers only digital silence for the cause. The search runs
/// on a separate thread, because the mixer may belong to a sound server that does not respond.
enum SilenceSearch {
  /// Returns a notice with the cause that the mixer of `device` shows, or one without a cause if
  /// the search takes longer than `milliseconds`. A simulated device has no mixer.
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

  /// The notice about silence of unknown cause.
  private static let unknown = Notice.warning(
    "onlySilence", "Only silence was captured: is the microphone muted?",
    hint: "Check its switch, its cable and the input channel; with sim, use sim:mic=FILE.")

  /// The notice about silence in a recording of the output.
  static let ofMix = Notice.warning(
    "onlySilence", "Only silence was played and recorded.",
    hint: "Check --mute, the gains, the files of --mix and the microphone's switch.")

  private static func notice(of control: MixerControl, _ device: String) -> Notice {
    if control.isOn == false {
      return .warning(
        "captureSwitchOff",
        "The input is silent: the capture switch of \(control.name) on \(device) is off.",
        hint: "Turn the switch on in alsamixer: F4, then the space bar.")
    }
    return .warning(
      "captureVolumeZero",
      "The input is silent: the capture volume of \(control.name) on \(device) is at zero.",
      hint: "Raise the volume in alsamixer, or with --capture-volume 80%.")
  }
}
