import AudioDevices
import RealtimeAudio

/// The parts of a mixer that outlive a session on one device, for the mixer of the next session.
package struct MixerParts: ~Copyable {
  /// The recorder of the microphone.
  package var inputRecorder: Recorder?
  /// The recorder of the output.
  package var outputRecorder: Recorder?
  /// The time at which the last cycle ended; nil if there was none.
  package var end: CycleTime?

  package init() {}

  /// Returns these parts and leaves none here.
  package mutating func take() -> MixerParts {
    var parts = MixerParts()
    swap(&parts, &self)
    return parts
  }
}

/// Handoffs that replace the recorders of a mixer while audio runs, and return them after the last
/// cycle. For one session, on one thread, never the audio thread.
package struct MixerHandoffs: ~Copyable {
  package let inputRecorder = Handoff<Recorder>()
  package let outputRecorder = Handoff<Recorder>()
  private let returnedParts = MutexBox<MixerParts?>(nil)
  private let control: SessionControl

  /// Creates handoffs to the mixer on which `control` is installed.
  package init(_ control: SessionControl) { self.control = control }

  /// Connects the handoffs to the mixer and passes `parts` to it. The end of the mixer does not end
  /// these recordings.
  package borrowing func install(on mixer: inout Mixer, _ parts: inout MixerParts) {
    mixer.inputRecorder = parts.inputRecorder.take()
    mixer.outputRecorder = parts.outputRecorder.take()
    mixer.requests?.inputRecorder = inputRecorder.makeReceiver()
    mixer.requests?.outputRecorder = outputRecorder.makeReceiver()
    mixer.requests?.returnedParts = returnedParts
  }

  /// Makes the mixer receive the parts that were sent.
  package borrowing func signalChange() { control.signalChange() }

  /// Returns the parts after the last cycle; nil if a device that hangs still has its mixer.
  package borrowing func takeParts() -> MixerParts? { returnedParts.withLock { $0.take() } }
}
