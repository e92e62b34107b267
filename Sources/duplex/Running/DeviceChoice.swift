import AudioBasics
import AudioDevices
import AudioSessions
import Duplex
import ProgramRuntime
import RealtimeAudio
import SimulatedDevices

/// Opens the device that the options name, simulated or real, and passes it to the command.
struct DeviceChoice {
  let options: AudioOptions
  let request: DuplexRequest
  private let selection: DeviceSelection
  /// The cards that other programs released for this run.
  private let reservation = CardReservation()

  /// Selects the devices of `options`. If these name no rate, the devices run at `preferredRate` if
  /// they support it.
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

  /// Opens the devices, and returns the result of `body`, the part of the command that runs on
  /// them until its end. Throws the errors of `body`, `DeviceFailure` if the devices cannot be
  /// opened, and `FileFailure` if the file of a simulated microphone cannot be played.
  func use<Result>(_ body: (consuming OpenDevice) throws -> Result) throws -> Result {
    try selection.validate()
    // The device of an unused direction is checked as well.
    for case let name? in [options.captureDevice, options.playbackDevice]
    where selection.isSimulated && SimulatedDeviceSpecification.isSimulated(name) {
      _ = try SimulatedDeviceSpecification(parsing: name)
    }
    SignalWatch.hold()
    defer { reservation.release() }
    let volumes = try MixerVolumes(options, request)
    defer { volumes.restore() }
    let open: OpenDevice
    do throws(OpeningFailure) {
      open = try opened()
    } catch {
      throw error.cause
    }
    // The session allocates more than the code that opened the devices needed.
    MemoryLock.releaseStartUpCode()
    return try body(open)
  }

  /// Opens the devices while the user can interrupt the wait: a sound server or a driver may hang.
  private func opened() throws(OpeningFailure) -> OpenDevice {
    let selection = self.selection
    let reservation = self.reservation
    let next = MutexBox(selection.request.deviceNames)
    return try InterruptibleOpening.result(
      of: next.withLock { $0.first == $0.last ? $0[0] : $0.joined(separator: " and ") },
      leavingWith: OutputMode.current.stoppedStatus,
      orThrowing: { message -> OpeningFailure in
        .device(DeviceFailure(.refused, message, hint: "End other programs, then try again."))
      }
    ) { _ throws(OpeningFailure) in
      try OpenDevice(opening: selection, reservation: reservation) { names in
        next.withLock { $0 = names }
      }
    }
  }
}

extension DuplexRequest {
  /// The names of the devices to open, that of the input first.
  fileprivate var deviceNames: [String] { [captureDevice, playbackDevice].compactMap { $0 } }
}
