/// What a file says beside its sound, as far as is known by now.
struct RecordingNotes {
  let tags: SoundFileTags
  var origination: Origination?
  var loudness = BroadcastLoudness()
  var markers: [SoundFileMarker] = []

  init(_ tags: SoundFileTags) {
    self.tags = tags
  }
}
