// Audio thread.
import AudioDevices
import AudioSessions
import RealtimeAudio

/// The callbacks of an engine: a mixer whose recorders other threads replace while sound runs.
struct EngineCallbacks: SessionCallbacks, ~Copyable {
  private var mixer: Mixer
  private var recorder: HandoffReceiver<Recorder>
  private var mixRecorder: HandoffReceiver<Recorder>
  private let home: MutexBox<MixerParts?>

  /// Callbacks of `mixer` whose parts come to `home` after the last cycle.
  init(
    _ mixer: consuming Mixer, _ handoffs: borrowing MixerHandoffs, home: MutexBox<MixerParts?>
  ) {
    self.mixer = mixer
    recorder = handoffs.recorder.makeReceiver()
    mixRecorder = handoffs.mixRecorder.makeReceiver()
    self.home = home
  }

  /// Refuses a device that its mixer does not fit.
  borrowing func check(_ configuration: DuplexConfiguration) throws(DeviceFailure) {
    try mixer.check(configuration)
  }

  /// Prepares the effects. Before the first cycle.
  mutating func prepare(_ configuration: DuplexConfiguration) { mixer.prepare(configuration) }

  /// Takes what the microphone delivered.
  @_noLocks
  mutating func input(_ input: borrowing InputCycle) {
    recorder.exchange(&mixer.recorder)
    mixer.input(input)
  }

  /// Fills what the output plays next.
  @_noLocks
  mutating func output(_ output: inout OutputCycle) {
    mixRecorder.exchange(&mixer.mixRecorder)
    mixer.output(&output)
  }

  /// Brings the parts home, where they are ended or go on with another device. After the last cycle.
  mutating func finish() {
    var parts = MixerParts()
    parts.recorder = mixer.recorder.take()
    parts.mixRecorder = mixer.mixRecorder.take()
    parts.end = mixer.end
    home.withLock { $0 = parts.take() }
  }
}
