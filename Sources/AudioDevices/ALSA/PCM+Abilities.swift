import CALSA

extension PCM {
  /// All that it could be configured to.
  func abilities() throws(DeviceFailure) -> StreamAbilities {
    var allocated: OpaquePointer?
    guard snd_pcm_hw_params_malloc(&allocated) == 0, let space = allocated else {
      throw DeviceFailure(.refused, "Memory ran out.", hint: "End other programs, then try again.")
    }
    defer { snd_pcm_hw_params_free(space) }
    try check(snd_pcm_hw_params_any(handle, space), "asked for its abilities")
    return StreamAbilities(
      formats: formats(in: space),
      sampleRates: Self.range(
        from: { snd_pcm_hw_params_get_rate_min(space, $0, nil) },
        to: { snd_pcm_hw_params_get_rate_max(space, $0, nil) }),
      channelCounts: Self.range(
        from: { snd_pcm_hw_params_get_channels_min(space, $0) },
        to: { snd_pcm_hw_params_get_channels_max(space, $0) }),
      periodFrames: Self.range(
        from: { snd_pcm_hw_params_get_period_size_min(space, $0, nil) },
        to: { snd_pcm_hw_params_get_period_size_max(space, $0, nil) }),
      bufferFrames: Self.range(
        from: { snd_pcm_hw_params_get_buffer_size_min(space, $0) },
        to: { snd_pcm_hw_params_get_buffer_size_max(space, $0) }))
  }

  private func formats(in space: OpaquePointer) -> [String] {
    (0...SND_PCM_FORMAT_LAST.rawValue).compactMap { number in
      let format = snd_pcm_format_t(rawValue: number)
      guard snd_pcm_hw_params_test_format(handle, space, format) == 0,
        let name = snd_pcm_format_name(format)
      else { return nil }
      return String(cString: name)
    }
  }

  private static func range<Number: UnsignedInteger>(
    from lowest: (UnsafeMutablePointer<Number>) -> Int32,
    to highest: (UnsafeMutablePointer<Number>) -> Int32
  ) -> ClosedRange<Int> {
    var low: Number = 0
    var high: Number = 0
    guard lowest(&low) == 0, highest(&high) == 0, low <= high else { return 0...0 }
    // A plugin without limits answers with the largest number there is.
    return Int(clamping: low)...Int(clamping: high)
  }
}
