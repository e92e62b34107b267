import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio
import SimulatedDevices

/// A device, open to be used, with its clock and the work that it needs beside it.
struct OpenDevice: ~Copyable {
  var device: DuplexDevice
  let clock: SessionClock
  var background: [any BackgroundWork] = []

  var configuration: DuplexConfiguration { device.configuration }
}

/// What happens on a device once it is open, whichever kind it is, to its end: a command's own part.
typealias DeviceUse = (consuming OpenDevice) throws -> ExitStatus

/// Opens the device that the options name, simulated or real, and hands it to its use.
struct DeviceChoice {
  let options: AudioOptions
  let request: DuplexRequest
  /// Devices that play the same.
  private let alsoPlay: [String]
  /// Whether code that only ran during the start-up may leave memory: false where another session follows.
  var isStartUpOver = true
  /// Cards that others released for the run.
  private let reservation = CardReservation()

  init(
    _ options: AudioOptions, captures: Bool, plays: Bool,
    alsoPlay: [String] = []
  ) {
    self.alsoPlay = alsoPlay
    let options = options.profile.map(options.following) ?? options
    self.options = options
    request = options.request(captures: captures, plays: plays)
  }

  func use(_ use: DeviceUse) throws -> ExitStatus {
    try request.validate()
    try checkSecondary()
    SignalWatch.hold()
    defer { reservation.release() }
    let volumes = try MixerVolumes(options, request)
    defer { volumes.restore() }
    let names = request.deviceNames + alsoPlay
    let simulated = names.filter(SimulatedDeviceSpecification.isSimulated)
    if let name = simulated.first {
      guard simulated.count == names.count else {
        throw DeviceFailure(
          .invalidRequest, "A simulated device and a real one cannot be used together.",
          hint: "Use sim for all of them, or for none.")
      }
      try checkSimulated()
      return try useSimulated(name, use)
    }
    if let pair = try drifting() { return try run(use, on: pair) }
    let request = self.request
    var device = try opened(request) { () throws(DeviceFailure) in
      try ALSADuplex(opening: request)
    }
    if device.configuration.capture?.isServer == true,
      device.configuration.playback?.isServer == true
    {
      device.close()
      // What the server captures is recorded as it is.
      guard let pair = try openPair(master: .capture) else {
        throw DeviceFailure(
          .lost, "The sound server behind \(device.configuration.deviceNames) went away.",
          hint: "Start it again, then try anew.")
      }
      return try run(use, on: pair)
    }
    if isStartUpOver { MemoryLock.releaseStartUpCode() }
    let clock: SessionClock =
      device.configuration.keepsTime ? .real(options.realtimePriority) : .virtual
    return try run(use, on: OpenDevice(device: DuplexDevice(device), clock: clock), openSecondary)
  }

  private func run(_ use: DeviceUse, on pair: consuming AsynchronousPair) throws -> ExitStatus {
    if isStartUpOver { MemoryLock.releaseStartUpCode() }
    let clock = SessionClock.real(options.realtimePriority)
    return try run(use, on: OpenDevice(device: DuplexDevice(pair), clock: clock), openSecondary)
  }

  private func openSecondary(_ request: DuplexRequest) throws -> DeviceStream {
    try opened(request) { () throws(DeviceFailure) in try DeviceStream(openingOutput: request) }
  }

  /// Opens the devices of `request`, which may never answer: a sound server that stands still, or a driver.
  private func opened<Device: ~Copyable>(
    _ request: DuplexRequest, _ open: @escaping @Sendable () throws(DeviceFailure) -> Device
  ) throws -> Device {
    let names = request.deviceNames
    return try InterruptibleOpening.result(
      of: names.first == names.last ? names[0] : names.joined(separator: " and "),
      leavingWith: OutputMode.current.stoppedStatus,
      orThrowing: {
        DeviceFailure(.refused, $0, hint: "End other programs, then try again.")
      }
    ) {
      [reservation, names = names + alsoPlay, reserves = !options.doesNotReserve] _
        throws(DeviceFailure) in
      reserves ? try reservation.opening(names, open) : try open()
    }
  }

  /// A simulated unit is one device: both directions say the same of it. A direction that is not
  /// used is looked at all the same.
  private func checkSimulated() throws(DeviceFailure) {
    for case let name? in [options.captureDevice, options.playbackDevice]
    where SimulatedDeviceSpecification.isSimulated(name) {
      _ = try SimulatedDeviceSpecification(parsing: name)
    }
    guard let capture = request.captureDevice, let playback = request.playbackDevice else { return }
    let described = try SimulatedDeviceSpecification(parsing: capture)
    var other = try SimulatedDeviceSpecification(parsing: playback)
    // The same settings in another order are the same device.
    other.name = described.name
    guard described != other else { return }
    throw DeviceFailure(
      .invalidRequest,
      "Input and output must be one simulated device, and these are two: \(capture) and \(playback).",
      hint: "Name one for both directions with --device; sim:drift=100 gives it two clocks.")
  }

  /// Refuses a device that would play twice.
  private func checkSecondary() throws(DeviceFailure) {
    var playing = [request.playbackDevice].compactMap { $0 }.map(DeviceIdentity.of)
    for name in alsoPlay {
      let identity = DeviceIdentity.of(name)
      guard !playing.contains(identity) else {
        throw DeviceFailure(
          .invalidRequest, "The output \(name) would play the same twice.",
          hint: "Name each device once; --also-play is for other ones.")
      }
      playing.append(identity)
    }
  }

  /// Two devices with two clocks as one; nil where there is one clock, or where one keeps no time.
  private func drifting() throws -> AsynchronousPair? {
    // One card has one clock, as a rule: a user who knows better names the master.
    let isToldApart =
      options.master != nil && request.captureDevice != nil && request.playbackDevice != nil
      && request.captureDevice != request.playbackDevice
    guard isToldApart || DevicePair.hasTwoClocks(request) else { return nil }
    return try openPair(master: .playback)
  }

  /// The input and the output as two devices, of which `master` gives the time unless the user names
  /// another; nil where one of them keeps no time.
  private func openPair(master: ClockMaster) throws -> AsynchronousPair? {
    let request = self.request
    var opening = try opened(request) { () throws(DeviceFailure) in
      OptionalPair(pair: try DevicePair.opening(request))
    }
    guard let pair = opening.pair.take() else { return nil }
    return AsynchronousPair(pair, request: request, master: options.master ?? master)
  }

  /// Brings the device to the rate that was asked for, where it has another, and lets secondary
  /// outputs play the same, where there are any.
  private func run(
    _ use: DeviceUse, on open: consuming OpenDevice,
    _ openSecondary: (DuplexRequest) throws -> DeviceStream
  ) throws -> ExitStatus {
    let (clock, background) = (open.clock, open.background)
    var device = open.device
    if device.configuration.needsResampling(for: request) {
      device = DuplexDevice(try ResamplingDevice(device, request: request))
    }
    guard !alsoPlay.isEmpty else {
      return try use(OpenDevice(device: device, clock: clock, background: background))
    }
    let granted = device.configuration
    var fanOut = FanOutDevice(device, resamplerQuality: options.resamplerQuality)
    for name in alsoPlay {
      var secondary = request
      secondary.captureDevice = nil
      secondary.playbackDevice = name
      secondary.sampleRate = granted.sampleRate
      // A format and channels are asked of the unit's own devices.
      secondary.format = nil
      secondary.channelCount = nil
      secondary.playbackChannels = nil
      try fanOut.add(try openSecondary(secondary))
    }
    return try use(
      OpenDevice(device: DuplexDevice(fanOut), clock: clock, background: background))
  }

  private func useSimulated(_ name: String, _ use: DeviceUse) throws -> ExitStatus {
    let specification = try SimulatedDeviceSpecification(parsing: name)
    let clock: SessionClock =
      specification.clock == .free ? .virtual : .real(options.realtimePriority)
    var background: [any BackgroundWork] = []
    var microphone: SampleReader?
    let channelCount = try SimulatedChannels(specification, for: request).deviceChannelCount
    if let path = specification.microphonePath, request.captureDevice != nil {
      let ring = SampleWriter(
        frameCount: max(specification.sampleRate, 4 * request.periodFrames),
        channelCount: channelCount)
      microphone = ring.makeReader()
      let track = try Track(
        path: path, sampleRate: specification.captureRate ?? specification.sampleRate,
        channelCount: channelCount,
        order: PlaybackRange(times: nil), resamplerQuality: options.resamplerQuality)
      background.append(PlayFeeder(ring: ring, source: track, channelCount: channelCount))
    }
    if isStartUpOver { MemoryLock.releaseStartUpCode() }
    let atDevice = request.atRate(specification.sampleRate)
    if specification.hasTwoClocks, request.captureDevice != nil, request.playbackDevice != nil {
      let pair = try DevicePair(
        simulating: specification, request: atDevice, microphone: microphone)
      let device = AsynchronousPair(
        pair, request: atDevice, master: options.master ?? .playback)
      return try run(
        use, on: OpenDevice(device: DuplexDevice(device), clock: clock, background: background),
        Self.openSimulated)
    }
    let device = try SimulatedDevice(specification, request: atDevice, microphone: microphone)
    return try run(
      use, on: OpenDevice(device: DuplexDevice(device), clock: clock, background: background),
      Self.openSimulated)
  }

  private static func openSimulated(_ request: DuplexRequest) throws -> DeviceStream {
    let specification = try SimulatedDeviceSpecification(parsing: request.playbackDevice ?? "")
    return try DeviceStream(
      simulating: specification, request: request.atRate(specification.sampleRate))
  }
}

extension DuplexRequest {
  /// The devices to open, the input's first.
  fileprivate var deviceNames: [String] { [captureDevice, playbackDevice].compactMap { $0 } }
}

/// Two devices, where both keep time.
private struct OptionalPair: ~Copyable {
  var pair: DevicePair?
}
