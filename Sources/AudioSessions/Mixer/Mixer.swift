// Audio thread.
import AudioBasics
import AudioDevices

/// What a recording takes down.
public enum RecordingSource: BitwiseCopyable, Sendable {
  /// The microphone as it came.
  case microphone
  /// What the output plays.
  case mix
}

/// The callbacks of every session: the microphone goes to the recorder, the meter and the ears; a
/// player is mixed in. What a session does not need it leaves out.
public struct Mixer: SessionCallbacks, ~Copyable {
  private var microphone: SampleBuffer
  private var mix: SampleBuffer
  private var capturedFrames = 0

  /// The gain of the microphone before anything else hears it.
  public var inputGain = Gain.unity
  /// The microphone's way to the ears; nil leaves it out.
  public var monitor: SmoothedGain?
  /// Guards the ears; nil leaves what is heard as it is.
  public var protection: MonitorProtection?
  /// Measures the microphone.
  public var meter: Meter?
  /// Mixed into the output.
  public var player: Player?
  /// Whether the session is over when the player is.
  public var endsWithPlayer = false
  /// Takes down the microphone or the mix.
  public var recorder: Recorder?
  /// Takes down what is played, for the echo canceller.
  public var playedRecorder: Recorder?
  /// Which of the two the recorder hears.
  public var recordingSource = RecordingSource.microphone

  /// A desk between an input and an output of so many channels (0 where there is none).
  public init(periodFrames: Int, captureChannels: Int, playbackChannels: Int) {
    microphone = SampleBuffer(frameCount: periodFrames, channelCount: captureChannels)
    mix = SampleBuffer(frameCount: periodFrames, channelCount: playbackChannels)
  }

  /// Takes what the microphone delivered.
  @_noLocks
  public mutating func input(_ input: borrowing InputCycle) {
    let frames = input.frameCount
    input.render(into: &microphone)
    capturedFrames = frames
    if inputGain.factor != 1 { microphone.scale(frames: frames, by: inputGain.factor) }
    meter?.measure(microphone, frames: frames)
    if case .microphone = recordingSource {
      recorder?.record(microphone, frames: frames, at: input.time)
    }
  }

  /// Fills what the output plays next.
  @_noLocks
  public mutating func output(_ output: inout OutputCycle) {
    let frames = output.frameCount
    protection?.begin(
      lostFrames: output.time.lostFrames, framesLeft: output.framesLeft, frames: frames)
    // The plain wire: nothing to change and nobody else to hear.
    if monitor?.isTransparent == true && player == nil && recorder == nil
      && microphone.channelCount == mix.channelCount
    {
      playMicrophone(&output)
      return
    }
    if monitor != nil && capturedFrames == frames {
      mix.copy(microphone, frames: frames)
      monitor?.process(&mix, frames: frames)
      _ = protection?.listen(to: mix, frames: frames, at: output.time.frame)
      protection?.shapeMicrophone(&mix, frames: frames)
    } else {
      mix.clear(frames: frames)
    }
    if output.time.lostFrames > 0 && player?.keepsTimeline == true {
      player?.skip(output.time.lostFrames)
    }
    let played = player?.play(into: &mix, frames: frames, at: output.time) ?? 0
    if endsWithPlayer && player?.isFinished == true { output.end(after: played) }
    protection?.shapeOutput(&mix, frames: frames)
    if case .mix = recordingSource { recorder?.record(mix, frames: frames, at: output.time) }
    playedRecorder?.record(mix, frames: frames, at: output.time)
    output.play(mix)
  }

  /// Plays the microphone as it is, unless the ears have something against it.
  @_noLocks
  private mutating func playMicrophone(_ output: inout OutputCycle) {
    let frames = output.frameCount
    let peak = protection?.listen(to: microphone, frames: frames, at: output.time.frame) ?? 0
    if protection?.isTransparent(to: peak) ?? true {
      output.play(microphone)
      return
    }
    mix.copy(microphone, frames: frames)
    protection?.shapeMicrophone(&mix, frames: frames)
    protection?.shapeOutput(&mix, frames: frames)
    output.play(mix)
  }

  /// Says that the take is over. After the last cycle.
  public mutating func finish() {
    recorder?.finish()
    playedRecorder?.finish()
  }
}
