/// What a file says beside its sound. It stands in the file from the next `refreshHeader` on.
extension SoundFileWriter {
  /// Notes when the first frame was captured: in WAV and RF64, as broadcasters do. Other formats, and
  /// files on a pipe, have no place for it.
  public mutating func originate(_ origination: Origination) {
    sink.notes.origination = origination
  }

  /// Sets a marker: in WAV and RF64. Other formats, and files on a pipe, do without, and so do frames
  /// beyond the four billion that such a file can number.
  public mutating func mark(_ marker: SoundFileMarker) {
    sink.notes.markers.append(marker)
  }

  /// Notes how loud the recording is: in WAV and RF64, as broadcasters do; nil is what is not known.
  /// `momentaryLUFS` and `shortTermLUFS` are the highest there were.
  public mutating func tellLoudness(
    integratedLUFS: Double?, rangeLU: Double?, truePeakDBTP: Double?, momentaryLUFS: Double?,
    shortTermLUFS: Double?
  ) {
    sink.notes.loudness = BroadcastLoudness(
      integrated: integratedLUFS, range: rangeLU, truePeak: truePeakDBTP,
      momentary: momentaryLUFS, shortTerm: shortTermLUFS)
  }
}
