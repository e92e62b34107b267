// Audio thread.
import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// The audio-thread half of a measurement: it plays the queued samples, or silence if there are
/// none, and records the captured and the played samples of the same cycle side by side.
///
/// Since both are in one ring, the halves need no agreement about the start of a probe: the
/// distance between the two is the round trip, regardless of delays of the other half
/// (`ProbeListener`).
public struct ProbeCallbacks: SessionCallbacks, ~Copyable {
  private var sound: SampleReader
  private var recorder: Recorder
  private var microphone: SampleBuffer
  private var played: SampleBuffer
  private var both: SampleBuffer

  /// Creates callbacks that play from `sound`, a ring with the output's channels, and write frames
  /// of input and output channels together to `recorder`.
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

  /// Receives the captured frames.
  @_noLocks
  public mutating func input(_ input: borrowing InputCycle) {
    input.render(into: &microphone)
    // A gap up to the end is followed by no output.
    if input.frameCount == 0 { recorder.record(both, frames: 0, at: input.time) }
  }

  /// Plays the queued frames, and records both.
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

  /// Marks the recording as complete.
  public mutating func finish() {
    recorder.finish()
  }
}
