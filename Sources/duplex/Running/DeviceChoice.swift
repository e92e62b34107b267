import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices

/// What happens on a device once it is open, whichever kind it is: a command's own part.
protocol DeviceUse {
  /// Runs on `device` to the end. `background` is work the device needs beside it.
  func run<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus
}

/// Opens the device that the options name, simulated or real, and hands it to its use.
struct DeviceChoice {
  let options: AudioOptions
  let request: DuplexRequest
  /// Whether code that only ran until now is not needed again.
  var isStartUpOver = true

  init(_ options: AudioOptions, captures: Bool, plays: Bool) {
    let options = options.profile.map(options.following) ?? options
    self.options = options
    request = options.request(captures: captures, plays: plays)
  }

  func use(_ use: some DeviceUse) throws -> ExitStatus {
    try request.validate()
    SignalWatch.hold()
    let names = [request.captureDevice, request.playbackDevice].compactMap { $0 }
    let simulated = names.filter(SimulatedDeviceSpecification.isSimulated)
    if let name = simulated.first {
      guard simulated.count == names.count else {
        throw DeviceFailure(
          .invalidRequest, "A simulated device and a real one cannot be one unit.",
          hint: "Use sim for both directions, or for none.")
      }
      return try useSimulated(name, use)
    }
    let device = try ALSADuplex(opening: request)
    if isStartUpOver { MemoryLock.releaseStartUpCode() }
    let clock: SessionClock =
      device.configuration.keepsTime ? .real(options.realtimePriority.priority) : .virtual
    guard device.configuration.needsResampling(for: request) else {
      return try use.run(on: device, clock: clock, background: [])
    }
    return try use.run(
      on: ResamplingDuplex(device, request: request), clock: clock, background: [])
  }

  private func useSimulated(_ name: String, _ use: some DeviceUse) throws -> ExitStatus {
    let specification = try SimulatedDeviceSpecification(parsing: name)
    let clock: SessionClock =
      specification.clock == .free ? .virtual : .real(options.realtimePriority.priority)
    var background: [any BackgroundWork] = []
    var microphone: SampleReader?
    let channelCount = request.channelCount ?? min(2, specification.channelCount)
    if let path = specification.microphonePath, request.captureDevice != nil {
      let ring = SampleWriter(
        frameCount: max(specification.sampleRate, 4 * request.periodFrames),
        channelCount: channelCount)
      microphone = ring.makeReader()
      let track = try Track(
        path: path, sampleRate: specification.sampleRate, channelCount: channelCount,
        order: PlayOrder(times: nil), resamplerQuality: options.resamplerQuality)
      background.append(PlayFeeder(ring: ring, source: track, channelCount: channelCount))
    }
    let device = try SimulatedDevice(
      specification, request: request.atRate(specification.sampleRate), microphone: microphone)
    if isStartUpOver { MemoryLock.releaseStartUpCode() }
    guard device.configuration.needsResampling(for: request) else {
      return try use.run(on: device, clock: clock, background: background)
    }
    return try use.run(
      on: ResamplingDuplex(device, request: request), clock: clock, background: background)
  }
}
