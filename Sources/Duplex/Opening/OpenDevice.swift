import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices

/// Sound devices, opened and configured as one duplex device on which a session runs. One thread at
/// a time, not the audio thread.
///
/// The same call opens every selection: a simulated device, an ALSA device, two devices with two
/// clocks, the two sides of a sound server, devices with other rates than the unit's, and secondary
/// outputs.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// precondition(opened.configuration.sampleRate == 48000)
/// let unit = DuplexUnit(
///   device: opened.device, callbacks: DuplexClosures(), progress: UnitProgress())
/// precondition(unit.configuration.sampleRate == 48000)
/// ```
@frozen public struct OpenDevice: ~Copyable {
  /// The device, not started. Take it from a variable, as above: for an expression such as `try
  /// OpenDevice(opening: selection).device` the compiler reports a bug of its own (Swift 6.3.1).
  public var device: DuplexDevice
  /// The clock by which the device runs.
  public let clock: SessionClock
  /// The background work that a session on the device runs before all other work: reading the file
  /// of a simulated microphone.
  public var background: [any BackgroundWork]
  /// The reservations of cards that other programs released, kept as long as this value exists.
  private var reservations: [CardReservation]

  /// The configuration that the devices granted.
  public var configuration: DuplexConfiguration { device.configuration }

  /// Opens the devices of `selection`. May block for as long as a driver or a sound server does, so
  /// it must not be called on a thread on which others wait; `willOpen` receives the names of the
  /// devices that are opened next. Cards that sound servers release are reserved in `reservation`,
  /// which this value keeps; the cards are given back with the last reference to it. Throws
  /// `OpeningFailure.device` if a device cannot satisfy the request, and `.file` if the file of a
  /// simulated microphone cannot be played.
  public init(
    opening selection: DeviceSelection, reservation: CardReservation = CardReservation(),
    willOpen: @escaping @Sendable ([String]) -> Void = { _ in }
  ) throws(OpeningFailure) {
    let steps = OpeningSteps(
      names: selection.deviceNames, reservation: selection.reservesCards ? reservation : nil,
      willOpen: willOpen)
    var opened = try Self.opened(selection, steps)
    opened.reservations = [reservation]
    self = opened
  }

  /// Runs `callbacks` on the devices to the end of the session, and returns its report. It is a
  /// `SessionRunner` with the clock and the background work of these devices: call it on a thread
  /// that may block, and see there for all parameters. The session ends after `frameLimit` frames,
  /// when `watch` stops it, when the callbacks end it, or when the device goes away, unless it
  /// `reconnects`. Cards that sound servers released stay reserved until the devices are closed.
  ///
  /// The call consumes this value: read what you need of `configuration` before it, also for its
  /// own arguments. Without a limit, a `watch` or callbacks that end it, a session in virtual time
  /// never returns.
  ///
  /// Throws if the device does not start, or if the callbacks do not fit it. A device that fails
  /// later is the `failure` of the report.
  ///
  /// ```swift
  /// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free,noise=-20"))
  /// var mixer = Mixer(opened.configuration)
  /// mixer.monitor = SmoothedGain(Gain(decibels: -6))
  /// let report = try opened.run(mixer, frameLimit: 48000)
  /// precondition(report.frames == 48000 && report.failure == nil)
  /// ```
  @discardableResult
  public consuming func run<Callbacks: SessionCallbacks & ~Copyable>(
    _ callbacks: consuming Callbacks, background: [any BackgroundWork] = [],
    meter: consuming MeterView? = nil, frameLimit: Int? = nil, fadeFrames: Int = 0,
    reconnects: Bool = false,
    watch: SessionRunner<Callbacks>.Watch = { _, _ in .proceed }
  ) throws(DeviceFailure) -> SessionReport {
    let (clock, reservations) = (self.clock, self.reservations)
    // What else the device owns must not end with this value, of which the runner takes the device.
    defer { withExtendedLifetime(reservations) {} }
    let runner = SessionRunner(
      device: device, callbacks: callbacks, background: self.background + background,
      meter: meter, frameLimit: frameLimit, fadeFrames: fadeFrames, reconnects: reconnects)
    return try runner.run(clock: clock, watch: watch)
  }

  private static func opened(
    _ selection: DeviceSelection, _ steps: OpeningSteps
  ) throws(OpeningFailure) -> OpenDevice {
    do throws(DeviceFailure) {
      try selection.validate()
      if !selection.isSimulated { return try real(selection, steps) }
    } catch {
      throw .device(error)
    }
    return try simulated(selection)
  }

  private init(
    _ device: consuming DuplexDevice, clock: SessionClock,
    background: [any BackgroundWork] = [], _ selection: DeviceSelection,
    openSecondary: (DuplexRequest) throws(DeviceFailure) -> DeviceStream
  ) throws(DeviceFailure) {
    self.clock = clock
    self.background = background
    reservations = []
    var device = device
    let request = selection.request
    if device.configuration.needsResampling(for: request) {
      device = DuplexDevice(try ResamplingDevice(device, request: request))
    }
    guard !selection.secondaryOutputs.isEmpty else {
      self.device = device
      return
    }
    let sampleRate = device.configuration.sampleRate
    var fanOut = FanOutDevice(device, resamplerQuality: request.resamplerQuality)
    for name in selection.secondaryOutputs {
      try fanOut.add(try openSecondary(request.secondary(name, sampleRate: sampleRate)))
    }
    self.device = DuplexDevice(fanOut)
  }

  // MARK: ALSA

  private static func real(
    _ selection: DeviceSelection, _ steps: OpeningSteps
  ) throws(DeviceFailure) -> OpenDevice {
    if let pair = try twoClocks(selection, steps) { return pair }
    let request = selection.request
    var device = try steps.opening(request) { () throws(DeviceFailure) in
      try ALSADuplex(opening: request)
    }
    let granted = device.configuration
    let isServer = granted.capture?.isServer == true && granted.playback?.isServer == true
    if isServer || device.hasTwoClocks {
      device.close()
      // The format and rate of the server's capture are recorded unchanged.
      let master: ClockMaster = isServer ? .capture : .playback
      guard let pair = try openPair(selection, steps, master: master) else {
        throw DeviceFailure.serverGone(granted.deviceNames)
      }
      return pair
    }
    return try OpenDevice(
      DuplexDevice(device), clock: granted.keepsTime ? .real(selection.priority) : .virtual,
      selection, openSecondary: secondary(selection, steps))
  }

  /// Returns two devices with two clocks as one; nil if there is only one clock, or if one device
  /// keeps no time.
  private static func twoClocks(
    _ selection: DeviceSelection, _ steps: OpeningSteps
  ) throws(DeviceFailure) -> OpenDevice? {
    let request = selection.request
    // One card usually has one clock; a user who knows otherwise names the master.
    let namesTwoDevices =
      selection.master != nil && request.captureDevice != nil && request.playbackDevice != nil
      && request.captureDevice != request.playbackDevice
    guard namesTwoDevices || DevicePair.hasTwoClocks(request) else { return nil }
    return try openPair(selection, steps, master: .playback)
  }

  /// Returns the input and the output as two devices, of which `master` is the clock master unless
  /// the selection names another; nil if one of them keeps no time.
  private static func openPair(
    _ selection: DeviceSelection, _ steps: OpeningSteps, master: ClockMaster
  ) throws(DeviceFailure) -> OpenDevice? {
    let request = selection.request
    var opened = try steps.opening(request) { () throws(DeviceFailure) in
      OptionalPair(pair: try DevicePair.opening(request))
    }
    guard let pair = opened.pair.take() else { return nil }
    let device = AsynchronousPair(pair, request: request, master: selection.master ?? master)
    return try OpenDevice(
      DuplexDevice(device), clock: .real(selection.priority), selection,
      openSecondary: secondary(selection, steps))
  }

  private static func secondary(
    _ selection: DeviceSelection, _ steps: OpeningSteps
  ) -> (DuplexRequest) throws(DeviceFailure) -> DeviceStream {
    { (request) throws(DeviceFailure) in
      try steps.opening(request) { () throws(DeviceFailure) in
        try DeviceStream(openingOutput: request)
      }
    }
  }

  // MARK: Simulated

  private static func simulated(
    _ selection: DeviceSelection
  ) throws(OpeningFailure) -> OpenDevice {
    let request = selection.request
    let name = request.captureDevice ?? request.playbackDevice ?? ""
    let specification: SimulatedDeviceSpecification
    let channelCount: Int
    do throws(DeviceFailure) {
      specification = try SimulatedDeviceSpecification(parsing: name)
      channelCount = try SimulatedChannels(specification, for: request).deviceChannelCount
    } catch {
      throw .device(error)
    }
    var background: [any BackgroundWork] = []
    let microphone: SampleReader?
    do throws(FileFailure) {
      microphone = try Self.microphone(
        specification, request, channelCount: channelCount, &background)
    } catch {
      throw .file(error)
    }
    do throws(DeviceFailure) {
      return try simulated(selection, specification, microphone, background)
    } catch {
      throw .device(error)
    }
  }

  /// Opens a simulated device, whose `background` reads the file of the `microphone`.
  private static func simulated(
    _ selection: DeviceSelection, _ specification: SimulatedDeviceSpecification,
    _ microphone: consuming SampleReader?, _ background: [any BackgroundWork]
  ) throws(DeviceFailure) -> OpenDevice {
    let request = selection.request
    let clock: SessionClock =
      specification.clock == .free ? .virtual : .real(selection.priority)
    let atDevice = try request.checked(atRate: specification.sampleRate)
    if specification.hasTwoClocks, request.captureDevice != nil, request.playbackDevice != nil {
      let pair = try DevicePair(
        simulating: specification, request: atDevice, microphone: microphone)
      let device = AsynchronousPair(
        pair, request: atDevice, master: selection.master ?? .playback)
      return try OpenDevice(
        DuplexDevice(device), clock: clock, background: background, selection,
        openSecondary: simulatedOutput)
    }
    let device = try SimulatedDevice(specification, request: atDevice, microphone: microphone)
    return try OpenDevice(
      DuplexDevice(device), clock: clock, background: background, selection,
      openSecondary: simulatedOutput)
  }

  /// Returns the signal at the microphone in addition to the loopback: a file, which `background`
  /// reads.
  private static func microphone(
    _ specification: SimulatedDeviceSpecification, _ request: DuplexRequest, channelCount: Int,
    _ background: inout [any BackgroundWork]
  ) throws(FileFailure) -> SampleReader? {
    guard let path = specification.microphonePath, request.captureDevice != nil else { return nil }
    // After an overrun the frames of the gap are skipped at once.
    let skipped = specification.xrunSeconds.isEmpty ? 0 : specification.xrunFrames
    let ring = SampleWriter(
      frameCount: max(specification.sampleRate, 4 * request.periodFrames)
        + RecordingPlan.limitedRingFrames(skipped, channelCount: channelCount),
      channelCount: channelCount)
    let reader = ring.makeReader()
    let track = try TrackReader(
      path: path, sampleRate: specification.captureRate ?? specification.sampleRate,
      channelCount: channelCount,
      range: PlaybackRange(times: nil), resamplerQuality: request.resamplerQuality)
    background.append(PlayFeeder(ring: ring, source: track, channelCount: channelCount))
    return reader
  }

  private static func simulatedOutput(
    _ request: DuplexRequest
  ) throws(DeviceFailure) -> DeviceStream {
    let specification = try SimulatedDeviceSpecification(parsing: request.playbackDevice ?? "")
    return try DeviceStream(
      simulating: specification, request: request.checked(atRate: specification.sampleRate))
  }
}

/// The common part of all steps of opening devices: the callback to the caller, and the reservation
/// of cards.
private struct OpeningSteps {
  /// The names of all devices of the unit.
  let names: [String]
  /// The reservation that requests cards from other programs; nil to request none.
  let reservation: CardReservation?
  /// A callback that receives the names of the devices that are opened next.
  let willOpen: @Sendable ([String]) -> Void

  /// Returns the result of `open` for the devices of `request`.
  func opening<Device: ~Copyable>(
    _ request: DuplexRequest, _ open: () throws(DeviceFailure) -> Device
  ) throws(DeviceFailure) -> Device {
    willOpen([request.captureDevice, request.playbackDevice].compactMap { $0 })
    guard let reservation else { return try open() }
    return try reservation.opening(names, open)
  }
}

/// Two devices, if both keep time.
private struct OptionalPair: ~Copyable {
  var pair: DevicePair?
}

extension DuplexRequest {
  /// Returns the request for the secondary output `name`. A format and channels are requested only
  /// of the unit's own devices.
  fileprivate func secondary(_ name: String, sampleRate: Int) -> DuplexRequest {
    var secondary = self
    secondary.captureDevice = nil
    secondary.playbackDevice = name
    secondary.sampleRate = sampleRate
    secondary.format = nil
    secondary.channelCount = nil
    secondary.playbackChannels = nil
    return secondary
  }
}
