import AudioBasics
import AudioDevices
import AudioSessions
import Duplex
import RealtimeAudio
import SimulatedDevices

/// The part of a command that runs on a device once it is open, whichever kind it is, to its end.
typealias DeviceUse = (consuming OpenDevice) throws -> ExitStatus

/// Opens the device that the options name, simulated or real, and hands it to its use.
struct DeviceChoice {
  let options: AudioOptions
  let request: DuplexRequest
  private let selection: DeviceSelection
  /// Whether code that only ran during the start-up may leave memory: false where another session
  /// follows.
  var isStartUpOver = true
  /// Cards that others released for the run.
  private let reservation = CardReservation()

  /// The devices of `options`; where these name no rate, at `preferredRate` if the devices have it.
  init(
    _ options: AudioOptions, captures: Bool, plays: Bool, preferredRate: Int? = nil,
    alsoPlay: [String] = []
  ) {
    let preferred = preferredRate.flatMap { DuplexRequest.sampleRates.contains($0) ? $0 : nil }
    let profile = options.profile(at: options.rate ?? preferred)
    let options = profile.map { options.following($0, preferredRate: preferred) } ?? options
    self.options = options
    var request = options.request(captures: captures, plays: plays)
    request.preferredSampleRate = preferred
    self.request = request
    var selection = DeviceSelection(request)
    selection.secondaryOutputs = alsoPlay
    selection.master = options.master
    selection.priority = options.realtimePriority
    selection.reservesCards = !options.doesNotReserve
    self.selection = selection
  }

  func use(_ use: DeviceUse) throws -> ExitStatus {
    try selection.validate()
    // A direction that is not used is looked at all the same.
    for case let name? in [options.captureDevice, options.playbackDevice]
    where selection.isSimulated && SimulatedDeviceSpecification.isSimulated(name) {
      _ = try SimulatedDeviceSpecification(parsing: name)
    }
    SignalWatch.hold()
    defer { reservation.release() }
    let volumes = try MixerVolumes(options, request)
    defer { volumes.restore() }
    let open = try opened()
    if isStartUpOver { MemoryLock.releaseStartUpCode() }
    return try use(open)
  }

  /// Opens the devices, which may never answer: a sound server that stands still, or a driver.
  private func opened() throws -> OpenDevice {
    let selection = self.selection
    let reservation = self.reservation
    let next = MutexBox(selection.request.deviceNames)
    return try InterruptibleOpening.result(
      of: next.withLock { $0.first == $0.last ? $0[0] : $0.joined(separator: " and ") },
      leavingWith: OutputMode.current.stoppedStatus,
      orThrowing: {
        DeviceFailure(.refused, $0, hint: "End other programs, then try again.") as any Error
      }
    ) { _ in
      try OpenDevice(opening: selection, reservation: reservation) { names in
        next.withLock { $0 = names }
      }
    }
  }
}

extension DuplexRequest {
  /// The devices to open, the input's first.
  fileprivate var deviceNames: [String] { [captureDevice, playbackDevice].compactMap { $0 } }
}
