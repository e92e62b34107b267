import AudioDevices
import AudioSessions
import RealtimeAudio

/// What outlives a session on one device, to be put on the mixer of the next one.
struct MixerParts: ~Copyable {
  /// Records the microphone.
  var recorder: Recorder?
  /// Records what is played.
  var mixRecorder: Recorder?
  /// Where the last cycle ended.
  var end: CycleTime?

  init() {}

  /// Puts them on `mixer`, and keeps none.
  mutating func install(on mixer: inout Mixer) {
    mixer.recorder = recorder.take()
    mixer.mixRecorder = mixRecorder.take()
  }
}

/// Replaces parts of a mixer while sound runs. One thread, which is not the audio thread.
struct MixerHandoffs: ~Copyable {
  let recorder = Handoff<Recorder>()
  let mixRecorder = Handoff<Recorder>()

  init() {}
}

extension MixerParts {
  /// Itself, which keeps nothing.
  mutating func take() -> MixerParts {
    var parts = MixerParts()
    swap(&parts, &self)
    return parts
  }
}
