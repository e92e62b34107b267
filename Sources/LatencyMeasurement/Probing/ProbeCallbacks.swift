// Audio thread.
import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// The audio thread's half of a measurement: plays what is queued, silence where nothing is, and
/// writes down side by side what was captured and what was played in the same cycle.
///
/// Both in one ring need no agreement about when a probe began: what lies between the two columns
/// is the round trip, whatever the other half (`ProbeListener`) was late with.
public struct ProbeCallbacks: SessionCallbacks, ~Copyable {
  private var sound: SampleReader
  private var recorder: Recorder
  private var microphone: SampleBuffer
  private var played: SampleBuffer
  private var both: SampleBuffer

  /// Callbacks that play from `sound`, a ring with the output's channels, and write frames of input
  /// and output channels together to `recorder`.
  public init(
    sound: consuming SampleReader, recorder: consuming Recorder, periodFrames: Int,
    captureChannels: Int, playbackChannels: Int
  ) {
    self.sound = sound
    self.recorder = recorder
    microphone = SampleBuffer(frameCount: periodFrames, channelCount: captureChannels)
    played = SampleBuffer(frameCount: periodFrames, channelCount: playbackChannels)
    both = SampleBuffer(
      frameCount: periodFrames, channelCount: captureChannels + playbackChannels)
  }

  /// Takes what the microphone delivered.
  @_noLocks
  public mutating func input(_ input: borrowing InputCycle) {
    input.render(into: &microphone)
    // A gap that reaches to the end comes with no output behind it.
    if input.frameCount == 0 { recorder.record(both, frames: 0, at: input.time) }
  }

  /// Plays what is queued, and writes both down.
  @_noLocks
  public mutating func output(_ output: inout OutputCycle) {
    let frames = output.frameCount
    let count = sound.read(into: &played, frames: frames)
    played.clear(from: count, frames: frames &- count)
    output.play(played)
    let captured = microphone.channelCount
    let width = both.channelCount
    var frame = 0
    while frame < frames {
      var channel = 0
      while channel < width {
        both[frame &* width &+ channel] =
          channel < captured
          ? microphone[frame &* captured &+ channel]
          : played[frame &* (width &- captured) &+ channel &- captured]
        channel &+= 1
      }
      frame &+= 1
    }
    recorder.record(both, frames: frames, at: output.time)
  }

  /// Says that the recording is complete.
  public mutating func finish() {
    recorder.finish()
  }
}
