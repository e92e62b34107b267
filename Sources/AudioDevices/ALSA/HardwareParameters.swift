import AudioBasics
import CALSA

/// The hardware parameters of a PCM, apart from its period and its buffer.
private struct ChosenParameters {
  let access: PCMAccess
  let format: SampleFormat
  /// The number of channels of the PCM, and those of them that are used; nil for all of them.
  let channelCount: Int
  let selection: ChannelSelection?
  let sampleRate: Int
}

extension PCM {
  /// Requests a rate, which may differ from the unit's, then the period, and then a buffer of whole
  /// periods from the hardware, and stores the granted values. The buffer holds at least
  /// `bufferFrames` frames of the request's rate.
  mutating func configure(_ request: DuplexRequest, bufferFrames: Int) throws(DeviceFailure) {
    let usesJACK = usesJACK
    guard JACKTurn.begin(if: usesJACK) else { throw .noTurn(name) }
    defer { JACKTurn.end(if: usesJACK) }
    // A device that maps no memory, or not enough, still returns the same results for all other
    // queries.
    var refusal: DeviceFailure?
    for access in PCMAccess.allCases {
      do throws(DeviceFailure) {
        if try configure(request, bufferFrames, access) { return }
      } catch {
        guard access.isMapped else { throw refusal ?? error }
        refusal = refusal ?? error
      }
    }
    if let refusal { throw refusal }
    throw PCMFailure.refused(
      name, direction, "offers no access mode that duplex knows",
      hint: "Try the same device as plug\(name).")
  }

  /// Returns false if the device does not support this access mode.
  private mutating func configure(
    _ request: DuplexRequest, _ minimumFrames: Int, _ access: PCMAccess
  ) throws(DeviceFailure) -> Bool {
    let space = try ALSAMemory(snd_pcm_hw_params_malloc, snd_pcm_hw_params_free)
    try check(snd_pcm_hw_params_any(handle, space.pointer), "asked for its abilities")
    // The plug plugin would resample linearly. The resampler of this library is better, so the
    // plugin must not resample.
    snd_pcm_hw_params_set_rate_resample(handle, space.pointer, 0)
    guard snd_pcm_hw_params_set_access(handle, space.pointer, access.code) == 0 else {
      return false
    }
    let format = try chooseFormat(request.format, in: space)
    let (channelCount, selection) = try chooseChannels(request, in: space)
    let rate = try chooseRate(request.soughtSampleRate, in: space)
    let chosen = ChosenParameters(
      access: access, format: format, channelCount: channelCount, selection: selection,
      sampleRate: rate)
    let scale = Double(rate) / Double(request.sampleRate ?? rate)
    let period = try choosePeriod(
      max(1, Int(rounding: Double(request.periodFrames) * scale)), in: space)
    // Whole periods, enough to hold a period and the headroom, because each of them was rounded.
    func scaled(_ frames: Int) -> Int { Int(clamping: (Double(frames) * scale).rounded(.up)) }
    let headroom = request.headroomFrames.map(scaled) ?? period
    let wanted = max(
      request.periods * period, period + headroom,
      scaled(minimumFrames))
    var bufferFrames = snd_pcm_uframes_t((wanted + period - 1) / period * period)
    try check(
      snd_pcm_hw_params_set_buffer_size_near(handle, space.pointer, &bufferFrames),
      "given a buffer")
    try check(snd_pcm_hw_params(handle, space.pointer), "configured")
    try adopt(chosen, in: space)
    return try adoptMemory(access)
  }

  private func chooseFormat(_ wanted: SampleFormat?, in space: borrowing ALSAMemory)
    throws(DeviceFailure) -> SampleFormat
  {
    let choices = wanted.map { [$0] } ?? SampleFormat.widestFirst
    for format in choices
    where snd_pcm_hw_params_set_format(handle, space.pointer, format.code) == 0 {
      return format
    }
    let offered = SampleFormat.widestFirst.filter {
      snd_pcm_hw_params_test_format(handle, space.pointer, $0.code) == 0
    }
    throw PCMFailure.refused(
      name, direction,
      wanted.map { "cannot do the format \($0.name)" }
        ?? "supports none of the sample formats that duplex knows",
      hint: offered.isEmpty
        ? "Try the same device as plug\(name)."
        : "It offers \(offered.map(\.name).joined(separator: ", ")); plug\(name) converts.")
  }

  /// Returns the number of channels to open, and the selection of those that are used: the named
  /// ones, otherwise the first channels, as many as requested, or at most two if no number is
  /// requested.
  private func chooseChannels(_ request: DuplexRequest, in space: borrowing ALSAMemory)
    throws(DeviceFailure) -> (Int, ChannelSelection?)
  {
    let named = isCapture ? request.captureChannels : request.playbackChannels
    let minimum = named?.max() ?? request.channelCount ?? 1
    // A single channel would be a mix of all channels if a plugin or a server is before the card.
    let wanted = named == nil ? request.channelCount ?? 2 : max(2, minimum)
    guard let count = openedChannels(near: wanted, atLeast: minimum, in: space) else {
      throw refusedChannels(minimum, isNamed: named != nil, in: space)
    }
    let used = named ?? Array(1...min(count, request.channelCount ?? 2))
    return (count, ChannelSelection(used, of: count))
  }

  /// Selects the lowest channel count that is not below `wanted`, or else not below `minimum`.
  /// Returns nil if there is none.
  private func openedChannels(
    near wanted: Int, atLeast minimum: Int, in space: borrowing ALSAMemory
  ) -> Int? {
    for limit in [wanted, minimum] {
      var lowest = UInt32(limit)
      var count: UInt32 = 0
      guard snd_pcm_hw_params_set_channels_min(handle, space.pointer, &lowest) == 0,
        snd_pcm_hw_params_set_channels_first(handle, space.pointer, &count) == 0
      else { continue }
      return Int(count)
    }
    return nil
  }

  private func refusedChannels(
    _ minimum: Int, isNamed: Bool, in space: borrowing ALSAMemory
  ) -> DeviceFailure {
    var lowest: UInt32 = 0
    var highest: UInt32 = 0
    snd_pcm_hw_params_get_channels_min(space.pointer, &lowest)
    snd_pcm_hw_params_get_channels_max(space.pointer, &highest)
    let text = lowest == highest ? "\(highest)" : "\(lowest) to \(highest)"
    let range = min(Int(lowest), Int(highest))...Int(highest)
    return PCMFailure.refused(
      name, direction,
      "cannot do "
        + (isNamed ? "channel \(minimum)" : minimum.counted("channel")),
      hint: isNamed
        ? "It has \(text); name others."
        : isCapture && highest < minimum
          ? "It has \(text); one of them can be captured twice."
          : "It has \(text); ask for as many, or use plug\(name).",
      remedy: isNamed
        ? .chooseChannels(within: range, isCapture: isCapture)
        : isCapture && highest < minimum
          ? .repeatChannel(within: range) : .chooseChannelCount(within: range, device: name))
  }

  /// Sets the rate nearest to `wanted`, or nearest to 48 kHz if no rate is requested. Returns the
  /// granted rate in Hz.
  private func chooseRate(_ wanted: Int?, in space: borrowing ALSAMemory)
    throws(DeviceFailure) -> Int
  {
    var rate = UInt32(wanted ?? 48000)
    var rounding: Int32 = 0
    try check(
      snd_pcm_hw_params_set_rate_near(handle, space.pointer, &rate, &rounding), "given a rate")
    return Int(rate)
  }

  /// Sets a period near `wanted`, and returns the granted period in frames. A server may grant any
  /// period: it moves frames in its own steps, and the unit measures them.
  private func choosePeriod(_ wanted: Int, in space: borrowing ALSAMemory)
    throws(DeviceFailure) -> Int
  {
    var lowest: snd_pcm_uframes_t = 0
    var highest: snd_pcm_uframes_t = 0
    var rounding: Int32 = 0
    snd_pcm_hw_params_get_period_size_min(space.pointer, &lowest, &rounding)
    snd_pcm_hw_params_get_period_size_max(space.pointer, &highest, &rounding)
    var frames = snd_pcm_uframes_t(wanted)
    rounding = 0
    let result = snd_pcm_hw_params_set_period_size_near(handle, space.pointer, &frames, &rounding)
    let isNear = frames >= snd_pcm_uframes_t(wanted) / 2 && frames <= snd_pcm_uframes_t(wanted) * 2
    guard result == 0, isNear || isServer else {
      throw PCMFailure.refused(
        name, direction, "cannot do a period of \(wanted) frames",
        hint: "It does \(lowest) to \(highest).",
        remedy: .choosePeriod(within: Self.periods(lowest, highest)))
    }
    return max(1, Int(frames))
  }

  /// Returns the periods from `lowest` to `highest` that can be requested.
  private static func periods(
    _ lowest: snd_pcm_uframes_t, _ highest: snd_pcm_uframes_t
  ) -> ClosedRange<Int> {
    let first = Int(clamping: min(lowest, highest))
    let last = min(Int(clamping: highest), DuplexRequest.periodFrameRange.upperBound)
    return first...max(first, last)
  }

  /// Stores the chosen parameters, with the period and the buffer that the hardware granted.
  private mutating func adopt(
    _ chosen: ChosenParameters, in space: borrowing ALSAMemory
  ) throws(DeviceFailure) {
    var periodFrames: snd_pcm_uframes_t = 0
    var bufferFrames: snd_pcm_uframes_t = 0
    var rounding: Int32 = 0
    try check(
      snd_pcm_hw_params_get_period_size(space.pointer, &periodFrames, &rounding),
      "asked its period")
    try check(snd_pcm_hw_params_get_buffer_size(space.pointer, &bufferFrames), "asked its buffer")
    let selection = chosen.selection
    configuration = StreamConfiguration(
      device: name, sampleRate: chosen.sampleRate,
      channelCount: selection?.channels.count ?? chosen.channelCount, format: chosen.format,
      periodFrames: Int(periodFrames), bufferFrames: Int(bufferFrames))
    configuration.selection = selection
    configuration.isServer = isServer
    configuration.catchUpSeconds = catchUpSeconds
    transfer = PCMTransfer(
      access: chosen.access, format: chosen.format, channelCount: chosen.channelCount,
      selection: selection, frames: max(1, configuration.bufferFrames))
  }

  /// Reads the layout of mapped memory. Returns false if it is not suitable, so that copying is
  /// tried.
  private mutating func adoptMemory(_ access: PCMAccess) throws(DeviceFailure) -> Bool {
    guard transfer.isMapped else { return true }
    try prepare()
    var areas: UnsafePointer<snd_pcm_channel_area_t>?
    var offset: snd_pcm_uframes_t = 0
    var frames = snd_pcm_uframes_t(1)
    _ = snd_pcm_avail_update(handle)
    guard snd_pcm_mmap_begin(handle, &areas, &offset, &frames) == 0, let areas else { return false }
    // Ends the access that `snd_pcm_mmap_begin` began. Otherwise plugins would deliver their first
    // period twice.
    defer { _ = snd_pcm_mmap_commit(handle, offset, 0) }
    guard transfer.adoptAreas(areas) else { return false }
    // ALSA's null device never writes captured frames: the previous contents of the memory would be
    // captured.
    if isCapture || transfer.isSelection {
      transfer.silence(areas, frames: configuration.bufferFrames)
    }
    return true
  }

  /// Sets when ALSA wakes the thread, when it reports an xrun, and that timestamps use the host's
  /// clock.
  func configureWaking(availableFrames: Int) throws(DeviceFailure) {
    let memory = try ALSAMemory(snd_pcm_sw_params_malloc, snd_pcm_sw_params_free)
    let parameters = memory.pointer
    var boundary: snd_pcm_uframes_t = 0
    try check(snd_pcm_sw_params_current(handle, parameters), "asked how it wakes")
    snd_pcm_sw_params_get_boundary(parameters, &boundary)
    // The unit starts both directions itself. A full buffer must not start them.
    try check(
      snd_pcm_sw_params_set_start_threshold(handle, parameters, boundary), "told when to start")
    try check(
      snd_pcm_sw_params_set_stop_threshold(
        handle, parameters, snd_pcm_uframes_t(configuration.bufferFrames)), "told when to stop")
    try check(
      snd_pcm_sw_params_set_avail_min(
        handle, parameters, snd_pcm_uframes_t(max(1, availableFrames))), "told when to wake")
    // Not every plugin has timestamps. The host clock is used if these settings are refused.
    snd_pcm_sw_params_set_tstamp_mode(handle, parameters, SND_PCM_TSTAMP_ENABLE)
    snd_pcm_sw_params_set_tstamp_type(handle, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC)
    try check(snd_pcm_sw_params(handle, parameters), "configured")
  }
}

extension SampleFormat {
  /// The ALSA constant for the format.
  var code: snd_pcm_format_t {
    switch self {
    case .s16LE: SND_PCM_FORMAT_S16_LE
    case .s16BE: SND_PCM_FORMAT_S16_BE
    case .s24LE: SND_PCM_FORMAT_S24_LE
    case .s24BE: SND_PCM_FORMAT_S24_BE
    case .s24Packed3LE: SND_PCM_FORMAT_S24_3LE
    case .s24Packed3BE: SND_PCM_FORMAT_S24_3BE
    case .s32LE: SND_PCM_FORMAT_S32_LE
    case .s32BE: SND_PCM_FORMAT_S32_BE
    case .floatLE: SND_PCM_FORMAT_FLOAT_LE
    case .floatBE: SND_PCM_FORMAT_FLOAT_BE
    }
  }
}
