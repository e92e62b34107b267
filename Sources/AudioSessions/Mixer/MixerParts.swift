import AudioDevices
import RealtimeAudio

/// The parts of a mixer that outlive a session on one device, for the mixer of the next one.
package struct MixerParts: ~Copyable {
  /// Records the microphone.
  package var recorder: Recorder?
  /// Records what is played.
  package var mixRecorder: Recorder?
  /// Where the last cycle ended.
  package var end: CycleTime?

  package init() {}

  /// Itself, which keeps nothing.
  package mutating func take() -> MixerParts {
    var parts = MixerParts()
    swap(&parts, &self)
    return parts
  }
}

/// Replaces the recorders of a mixer while sound runs, and gets them back after the last cycle. For
/// one session, on one thread, which is not the audio thread.
package struct MixerHandoffs: ~Copyable {
  package let recorder = Handoff<Recorder>()
  package let mixRecorder = Handoff<Recorder>()
  private let home = MutexBox<MixerParts?>(nil)
  private let control: SessionControl

  /// Handoffs to the mixer that `control` is installed on.
  package init(_ control: SessionControl) { self.control = control }

  /// Connects the two, and puts `parts` on the mixer, which keeps them: its end does not end its
  /// recordings.
  package borrowing func install(on mixer: inout Mixer, _ parts: inout MixerParts) {
    mixer.recorder = parts.recorder.take()
    mixer.mixRecorder = parts.mixRecorder.take()
    mixer.requests?.recorder = recorder.makeReceiver()
    mixer.requests?.mixRecorder = mixRecorder.makeReceiver()
    mixer.requests?.home = home
  }

  /// Has the mixer take what was sent.
  package borrowing func announce() { control.announce() }

  /// The parts after the last cycle; nil where a device that hangs keeps its mixer.
  package borrowing func takeParts() -> MixerParts? { home.withLock { $0.take() } }
}
