/// Metadata of a recording, as far as it is known so far: tags, origination, loudness and markers.
struct RecordingNotes {
  let tags: SoundFileTags
  var origination: Origination?
  var loudness = BroadcastLoudness()
  var markers: [SoundFileMarker] = []

  init(_ tags: SoundFileTags) {
    self.tags = tags
  }
}

/// Loudness values of a recording in the form that broadcast WAV stores: hundredths of the usual
/// units (EBU Tech 3285, version 2).
struct BroadcastLoudness {
  let integrated: Int16
  let range: Int16
  let truePeak: Int16
  let momentary: Int16
  let shortTerm: Int16

  /// The value stored for a quantity that is unknown or does not fit into its field.
  private static let unknown: Int16 = 0x7FFF

  init(
    integrated: Double? = nil, range: Double? = nil, truePeak: Double? = nil,
    momentary: Double? = nil, shortTerm: Double? = nil
  ) {
    self.integrated = Self.hundredths(integrated)
    self.range = Self.hundredths(range)
    self.truePeak = Self.hundredths(truePeak)
    self.momentary = Self.hundredths(momentary)
    self.shortTerm = Self.hundredths(shortTerm)
  }

  private static func hundredths(_ value: Double?) -> Int16 {
    guard let value, abs(value) <= 99.99 else { return unknown }
    return Int16(rounding: value * 100)
  }
}
