import AudioFiles

/// The decoders of sources that were read ahead and will be played later: some sources cannot be
/// read twice.
struct UnplayedDecoders {
  /// The decoders by the positions of their sources in the list.
  var decoders: [QueuePosition: [any SoundDecoder]]
  /// The number of removals from the list before the positions were noted.
  private var removals: Int

  init(_ decoders: [QueuePosition: [any SoundDecoder]], removals: Int) {
    self.decoders = decoders
    self.removals = removals
  }

  /// Discards all decoders unless the list has had as many removals as before: their positions are
  /// outdated.
  mutating func discard(unlessAfter removals: Int) {
    if self.removals != removals { decoders = [:] }
    self.removals = removals
  }

  /// Removes the decoders of the sources up to `position`, whose turns have begun.
  mutating func remove(through position: QueuePosition) {
    decoders = decoders.filter { $0.key > position }
  }
}
