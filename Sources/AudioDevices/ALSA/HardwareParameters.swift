import AudioBasics
import CALSA

extension PCM {
  /// Asks the hardware for a rate, which may differ from the unit's, then for the period, and then
  /// for a buffer of whole periods, and keeps what it answers. The buffer holds `bufferFrames`
  /// frames of the request's rate at least.
  mutating func configure(_ request: DuplexRequest, bufferFrames: Int) throws(DeviceFailure) {
    // A device that maps no memory, or not as much, still answers the same to every other question.
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

  /// False where the device cannot do this access.
  private mutating func configure(
    _ request: DuplexRequest, _ leastFrames: Int, _ access: PCMAccess
  ) throws(DeviceFailure) -> Bool {
    let space = try ALSAMemory(snd_pcm_hw_params_malloc, snd_pcm_hw_params_free)
    try check(snd_pcm_hw_params_any(handle, space.pointer), "asked for its abilities")
    // A plug would resample linearly; our own resampler is better, so it must not.
    snd_pcm_hw_params_set_rate_resample(handle, space.pointer, 0)
    guard snd_pcm_hw_params_set_access(handle, space.pointer, access.code) == 0 else {
      return false
    }
    let format = try chooseFormat(request.format, in: space)
    let (channelCount, selection) = try chooseChannels(request, in: space)
    let rate = try chooseRate(request.soughtSampleRate, in: space)
    let scale = Double(rate) / Double(request.sampleRate ?? rate)
    let period = try choosePeriod(
      max(1, Int(rounding: Double(request.periodFrames) * scale)), in: space)
    // Whole periods, enough to hold a period and the headroom: each of them was rounded.
    func scaled(_ frames: Int) -> Int { Int(clamping: (Double(frames) * scale).rounded(.up)) }
    let headroom = request.headroomFrames.map(scaled) ?? period
    let wanted = max(
      request.periods * period, period + headroom,
      scaled(leastFrames))
    var bufferFrames = snd_pcm_uframes_t((wanted + period - 1) / period * period)
    try check(
      snd_pcm_hw_params_set_buffer_size_near(handle, space.pointer, &bufferFrames),
      "given a buffer")
    try check(snd_pcm_hw_params(handle, space.pointer), "configured")
    try adopt(space.pointer, access, format, channelCount, selection, rate)
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

  /// How many channels it is opened with, and which of them are used: those that are named, else
  /// the first of as many as are asked for, at most two where nothing is asked for.
  private func chooseChannels(_ request: DuplexRequest, in space: borrowing ALSAMemory)
    throws(DeviceFailure) -> (Int, ChannelSelection?)
  {
    let named = isCapture ? request.captureChannels : request.playbackChannels
    let least = named?.max() ?? request.channelCount ?? 1
    // One channel alone would be a mix of all of them where a plugin or a server stands before the
    // card.
    let wanted = named == nil ? request.channelCount ?? 2 : max(2, least)
    guard let count = openedChannels(near: wanted, atLeast: least, in: space) else {
      throw refusedChannels(least, isNamed: named != nil, in: space)
    }
    let used = named ?? Array(1...min(count, request.channelCount ?? 2))
    return (count, ChannelSelection(used, of: count))
  }

  /// Settles for the fewest channels that are not below `wanted`, or else not below `least`.
  private func openedChannels(
    near wanted: Int, atLeast least: Int, in space: borrowing ALSAMemory
  ) -> Int? {
    for limit in [wanted, least] {
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
    _ least: Int, isNamed: Bool, in space: borrowing ALSAMemory
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
        + (isNamed ? "channel \(least)" : "\(least) channel\(least == 1 ? "" : "s")"),
      hint: isNamed
        ? "It has \(text); name others."
        : isCapture && highest < least
          ? "It has \(text); one of them can be captured twice."
          : "It has \(text); ask for as many, or use plug\(name).",
      remedy: isNamed
        ? .chooseChannels(within: range, isCapture: isCapture)
        : isCapture && highest < least
          ? .repeatChannel(within: range) : .chooseChannelCount(within: range, device: name))
  }

  /// Near what was asked; the device's own rate is 48 kHz or what lies nearest.
  private func chooseRate(_ wanted: Int?, in space: borrowing ALSAMemory)
    throws(DeviceFailure) -> Int
  {
    var rate = UInt32(wanted ?? 48000)
    var rounding: Int32 = 0
    try check(
      snd_pcm_hw_params_set_rate_near(handle, space.pointer, &rate, &rounding), "given a rate")
    return Int(rate)
  }

  /// Near what was asked; answers with what it came to. A server moves frames in steps of its own,
  /// and the unit learns them.
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
        remedy: .choosePeriod(
          within: Int(clamping: min(lowest, highest))...Int(clamping: highest)))
    }
    return max(1, Int(frames))
  }

  private mutating func adopt(
    _ parameters: OpaquePointer, _ access: PCMAccess, _ format: SampleFormat, _ channelCount: Int,
    _ selection: ChannelSelection?, _ rate: Int
  ) throws(DeviceFailure) {
    var periodFrames: snd_pcm_uframes_t = 0
    var bufferFrames: snd_pcm_uframes_t = 0
    var rounding: Int32 = 0
    try check(
      snd_pcm_hw_params_get_period_size(parameters, &periodFrames, &rounding), "asked its period")
    try check(snd_pcm_hw_params_get_buffer_size(parameters, &bufferFrames), "asked its buffer")
    configuration = StreamConfiguration(
      device: name, sampleRate: rate, channelCount: selection?.channels.count ?? channelCount,
      format: format, periodFrames: Int(periodFrames), bufferFrames: Int(bufferFrames))
    configuration.selection = selection
    configuration.isServer = isServer
    transfer = PCMTransfer(
      access: access, format: format, channelCount: channelCount, selection: selection,
      frames: max(1, configuration.bufferFrames))
  }

  /// Learns the layout of mapped memory; false where it is unfit, so that copying is tried.
  private mutating func adoptMemory(_ access: PCMAccess) throws(DeviceFailure) -> Bool {
    guard transfer.isMapped else { return true }
    try prepare()
    var areas: UnsafePointer<snd_pcm_channel_area_t>?
    var offset: snd_pcm_uframes_t = 0
    var frames = snd_pcm_uframes_t(1)
    _ = snd_pcm_avail_update(handle)
    guard snd_pcm_mmap_begin(handle, &areas, &offset, &frames) == 0, let areas else { return false }
    // Ends what `begin` began; plugins would otherwise deliver their first period twice.
    defer { _ = snd_pcm_mmap_commit(handle, offset, 0) }
    guard transfer.adoptAreas(areas) else { return false }
    // ALSA's null device never writes what it captures: it would be what lay in that memory before.
    if isCapture || transfer.isSelection {
      transfer.silence(areas, frames: configuration.bufferFrames)
    }
    return true
  }

  /// Tells ALSA when to wake us and when to call it an xrun, and to stamp time on the host's clock.
  func configureWaking(availableFrames: Int) throws(DeviceFailure) {
    let memory = try ALSAMemory(snd_pcm_sw_params_malloc, snd_pcm_sw_params_free)
    let parameters = memory.pointer
    var boundary: snd_pcm_uframes_t = 0
    try check(snd_pcm_sw_params_current(handle, parameters), "asked how it wakes")
    snd_pcm_sw_params_get_boundary(parameters, &boundary)
    // The unit starts both directions itself; a full buffer must not.
    try check(
      snd_pcm_sw_params_set_start_threshold(handle, parameters, boundary), "told when to start")
    try check(
      snd_pcm_sw_params_set_stop_threshold(
        handle, parameters, snd_pcm_uframes_t(configuration.bufferFrames)), "told when to stop")
    try check(
      snd_pcm_sw_params_set_avail_min(
        handle, parameters, snd_pcm_uframes_t(max(1, availableFrames))), "told when to wake")
    // Not every plugin stamps; the host clock stands in where these are refused.
    snd_pcm_sw_params_set_tstamp_mode(handle, parameters, SND_PCM_TSTAMP_ENABLE)
    snd_pcm_sw_params_set_tstamp_type(handle, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC)
    try check(snd_pcm_sw_params(handle, parameters), "configured")
  }
}

extension SampleFormat {
  /// ALSA's number for it.
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
