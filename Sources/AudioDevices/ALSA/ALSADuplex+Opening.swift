import AudioBasics
import RealtimeAudio

extension ALSADuplex {
  /// Opens and configures the devices that `request` names.
  ///
  /// Both directions get the same rate if both support it. Otherwise, or if they do not support the
  /// requested rate, the configuration contains the rate of each direction, and a
  /// `ResamplingDevice` converts between them. Throws if a device does not exist, is busy, or
  /// cannot do what is requested.
  public init(opening request: DuplexRequest) throws(DeviceFailure) {
    try request.validate()
    var input: PCM?
    var output: PCM?
    if let name = request.captureDevice { input = try PCM(opening: name, .capture) }
    if let name = request.playbackDevice { output = try PCM(opening: name, .playback) }
    // A long input buffer adds no latency, and a late wake-up does not overrun it.
    try input?.configure(request, bufferFrames: 8192)
    // A sound server transfers a quantum at a time, and its length cannot be queried. A unit that
    // only plays queues more than a usual quantum, because its delay does not matter.
    let fillsBuffer =
      request.headroomFrames == nil && request.captureDevice == nil && output?.isServer == true
    // The output uses the rate and the period that the input was granted.
    var playbackRequest = request
    if let leader = input?.configuration {
      if request.headroomFrames != nil {
        playbackRequest.headroomFrames = request.atRate(leader.sampleRate).headroom
      }
      playbackRequest.sampleRate = leader.sampleRate
      playbackRequest.periodFrames = leader.periodFrames
    }
    try output?.configure(
      playbackRequest,
      bufferFrames: fillsBuffer ? 8192 * max(1, (request.soughtSampleRate ?? 48000) / 48000) : 0)
    guard let leader = input?.configuration ?? output?.configuration else {
      throw .noDevice
    }
    let headroom = Self.headroom(
      request, leader, output: output?.configuration, fillsBuffer: fillsBuffer)
    var configuration = DuplexConfiguration(
      sampleRate: leader.sampleRate, periodFrames: leader.periodFrames, headroomFrames: headroom,
      capture: input?.configuration, playback: output?.configuration)
    configuration.keepsTime = input?.keepsTime ?? false || output?.keepsTime ?? false
    var pcms = PCMPair(capture: input, playback: output)
    configuration.isLinked = pcms.isLinked

    let ahead = DuplexShape(configuration).playbackAheadFrames
    if let stream = pcms.playback?.configuration, stream.bufferFrames < ahead {
      throw PCMFailure.refused(
        stream.device, .playback, "cannot do a buffer of \(ahead) frames",
        hint: "It holds \(stream.bufferFrames); ask for a shorter period or less headroom.",
        remedy: .shrinkPeriod(bufferFrames: stream.bufferFrames))
    }
    let wakeUp = try Self.arrangeWaking(&pcms, headroomFrames: headroom)
    self.init(pcms, configuration: configuration, wakeUp: wakeUp, request: request)
  }

  /// Returns the headroom in frames at the rate of `leader`. If the request does not specify it, it
  /// is a period, limited to what the buffer of `output` holds, or all that it holds.
  private static func headroom(
    _ request: DuplexRequest, _ leader: StreamConfiguration, output: StreamConfiguration?,
    fillsBuffer: Bool
  ) -> Int {
    guard request.headroomFrames == nil else { return request.atRate(leader.sampleRate).headroom }
    guard let output, output.sampleRate > 0 else { return leader.periodFrames }
    let room = output.bufferFrames * leader.sampleRate / output.sampleRate
    // PipeWire's plugin passes at most the wake-up threshold to its server at a time.
    let free = fillsBuffer ? max(leader.periodFrames, room / 4) : leader.periodFrames
    let maximum = max(1, room - free)
    return fillsBuffer ? maximum : min(leader.periodFrames, maximum)
  }

  private static func arrangeWaking(
    _ pcms: inout PCMPair, headroomFrames: Int
  ) throws(DeviceFailure) -> PollSet {
    var frames = pcms.capture?.configuration.periodFrames ?? 1
    if let stream = pcms.playback?.configuration {
      // The thread wakes when no more than the headroom is queued.
      let free = max(stream.periodFrames, stream.bufferFrames - headroomFrames)
      try pcms.playback?.configureWaking(availableFrames: free)
      if pcms.capture?.handle == nil { frames = free }
    }
    try pcms.capture?.configureWaking(availableFrames: frames)
    if let wakeUp = try pcms.capture?.pollSet(availableFrames: frames) { return wakeUp }
    if let wakeUp = try pcms.playback?.pollSet(availableFrames: frames) { return wakeUp }
    throw .noDevice
  }
}

extension ALSADuplex {
  /// Does nothing: a single device needs no preparation.
  public mutating func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) {}

  /// Closes both directions: the driver of an unplugged card waits for that.
  public mutating func close() {
    if configuration.capture != nil { losses.openGap(nil) }
    wakeUp = nil
    pcms.close()
    returning = nil
  }

  /// Waits 100 ms, then searches for the same devices by their names and identities.
  public mutating func pollForReconnection() -> DeviceReturn {
    HostClock.pause(milliseconds: 100)
    if let moves = pcms.capture?.hasMoved, let since = returning {
      if moves {
        returning = nil
        return .returned(cards: since.cards)
      }
      guard now &- since.nanoseconds > PCM.movesWithinNanoseconds else { return .absent }
      close()
    }
    guard let found = places.locate() else { return .absent }
    do throws(DeviceFailure) {
      try adopt(ALSADuplex(opening: found.request))
      try start()
      guard pcms.capture?.hasMoved != false else {
        returning = (found.cards, now)
        return .absent
      }
      return .returned(cards: found.cards)
    } catch {
      close()
      return DeviceReturn(error)
    }
  }

  /// Continues with the devices of `opened`. Throws if they were not granted the same configuration
  /// as before.
  private mutating func adopt(_ opened: consuming ALSADuplex) throws(DeviceFailure) {
    var granted = opened.configuration
    granted.capture?.device = configuration.capture?.device ?? ""
    granted.playback?.device = configuration.playback?.device ?? ""
    guard granted == configuration else {
      throw .otherSettings(configuration.deviceNames)
    }
    wakeUp = opened.wakeUp.take()
    pcms = opened.pcms
  }
}
