import AudioBasics

/// Earlier names of the settings that are properties.
extension AudioPlayer {
  /// Sets the gain of all tracks, a factor or a level in dB. The same as setting `gain`.
  @available(*, deprecated, message: "Set gain.")
  public func setGain(_ gain: Gain) { self.gain = gain }

  /// Sets `isRepeating` and `isShuffling`, and calls `seedShuffling` if there is a `seed`.
  @available(*, deprecated, message: "Set isRepeating and isShuffling, call seedShuffling.")
  public func setRepeating(_ repeats: Bool, shuffles: Bool = false, seed: UInt64? = nil) {
    // At once: no repetition begins between the changes.
    list.withLock { list in
      list.repeats = repeats
      list.shuffles = shuffles
      if let seed { list.randomNumbers = SplitMix64(seed: seed) }
    }
  }

  /// Sets the time in seconds before a track's end at which `endingSoon` is sent. The same as
  /// setting `endingSoonLeadSeconds`.
  @available(*, deprecated, message: "Set endingSoonLeadSeconds.")
  public func setEndingSoonLead(seconds: Double) { endingSoonLeadSeconds = seconds }

  /// Sets the tap; nil for none. The same as setting `tap`.
  @available(*, deprecated, message: "Set tap.")
  public func insert(_ tap: (any PlayerTap)?) { self.tap = tap }
}
