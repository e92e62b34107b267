// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// The callbacks of every session: two lists of stages, one for the frames that the microphone
/// delivers and one for the frames that the output plays. A stage that a session does not need is
/// nil. A mixer is created on any thread; a unit runs it on its audio thread.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// var mixer = Mixer(opened.configuration)
/// mixer.monitor = SmoothedGain(.unity)
/// let runner = SessionRunner(device: opened.device, callbacks: mixer, frameLimit: 4800)
/// let report = try runner.run(clock: .virtual) { _, _ in .proceed }
/// precondition(report.frames == 4800)
/// ```
public struct Mixer: SessionCallbacks, ~Copyable {
  private var microphone: MixerBus
  private var mix: MixerBus

  /// The changes that other threads make while audio runs; nil if no `SessionControl` is installed.
  var requests: MixerRequests?
  /// Whether there are changes. It is separate from them, so that a check copies little.
  var changes: ChangeView?

  /// The gain of the microphone before all other stages.
  public var inputGain = SmoothedGain(.unity)
  /// User-defined effects on the microphone: after its gain, before its meter, its recorder and the
  /// monitor. They are prepared when the unit starts; nil costs nothing.
  public var inputInsert: EffectInsert?
  /// The level meter of the microphone.
  public var inputMeter: Meter?
  /// The recorder of the microphone.
  public var inputRecorder: Recorder?

  /// The gain of the microphone in the output; nil leaves the microphone out.
  public var monitor: SmoothedGain?
  /// User-defined effects between microphone and output: after `monitor`, so that they process the
  /// played part of the microphone, and before `protection`, which limits them. `inputRecorder`
  /// records the microphone without them, `outputRecorder` with them. They also run without a
  /// monitor, on silence, and so can generate audio. They are prepared when the unit starts; nil
  /// costs nothing.
  public var insert: EffectInsert?
  /// User-defined effects on all that is played, microphone and player: before `outputGain` and the
  /// limiter. `outputRecorder` records the output with them. They are prepared when the unit
  /// starts; nil costs nothing.
  public var outputInsert: EffectInsert?
  /// The feedback suppressor and the limiter of the output.
  public var protection: MonitorProtection?
  /// The player, which is mixed into the output.
  public var player: PlayerStage?
  /// The gain of the whole output, before the limiter; nil leaves it out.
  public var outputGain: SmoothedGain?
  /// Whether the session ends with the player.
  public var endsWithPlayer = false
  /// The frame after the player's last one in the output, once that is known.
  private var playerEndFrame: Int?
  /// The recorder of the output.
  public var outputRecorder: Recorder?
  /// The recorder of the output as the reference of the echo canceller.
  public var echoReferenceRecorder: Recorder?
  /// The meter of the clipping and the true peak of the output.
  public var truePeakMeter: TruePeakMeter?
  /// The level meter of the output.
  public var outputMeter: Meter?
  /// The dither for an output of 16 bits.
  public var dither: Dither?

  /// Creates a mixer between an input of `captureChannels` channels and an output of
  /// `playbackChannels` channels; 0 means none.
  public init(periodFrames: Int, captureChannels: Int, playbackChannels: Int) {
    microphone = MixerBus(periodFrames: periodFrames, channelCount: captureChannels)
    mix = MixerBus(periodFrames: periodFrames, channelCount: playbackChannels)
  }

  /// Whether there may be inserts; exact from `prepare` on. One check of it per cycle costs less
  /// than one of each insert.
  private var hasInserts = true
  private var hasInput: Bool { @_noLocks get { microphone.buffer.channelCount > 0 } }
  private var hasOutput: Bool { @_noLocks get { mix.buffer.channelCount > 0 } }

  /// Processes the frames that the microphone delivered.
  @_noLocks
  public mutating func input(_ input: borrowing InputCycle) {
    if changes?.isNew == true { takeRequests() }
    microphone.begin(frames: input.frameCount, at: input.time)
    // The protection needs the peak, which a meter measures anyway.
    if inputMeter == nil && protection != nil {
      microphone.peakBound = input.renderMeasured(into: &microphone.buffer)
    } else {
      input.render(into: &microphone.buffer)
    }
    inputGain.process(&microphone)
    if hasInserts && inputInsert?.isEmpty == false { runInputEffects() }
    inputMeter?.process(&microphone)
    inputRecorder?.process(&microphone)
    if !hasOutput { outputRecorder?.skip(microphone.frames, at: microphone.time) }
  }

  /// Performs the changes of other threads, and so returns a recorder, while there are no cycles
  /// that would do so.
  @_noLocks
  public mutating func idle() {
    if changes?.isNew == true { takeRequests() }
  }

  /// Fills the frames that the output plays next.
  @_noLocks
  public mutating func output(_ output: inout OutputCycle) {
    if changes?.isNew == true { takeRequests() }
    mix.begin(frames: output.frameCount, at: output.time)
    if monitor != nil { mix.take(&microphone) } else { mix.clear() }
    monitor?.process(&mix)
    if hasInserts && insert?.isEmpty == false { runEffects() }
    protection?.processMicrophone(&mix, framesLeft: output.framesLeft)
    player?.process(&mix)
    if hasInserts && outputInsert?.isEmpty == false { runOutputEffects() }
    outputGain?.process(&mix)
    protection?.processMix(&mix)
    if endsWithPlayer { endWithPlayer(&output) }
    outputRecorder?.process(&mix)
    if !hasInput { inputRecorder?.skip(mix.frames, at: mix.time) }
    echoReferenceRecorder?.process(&mix)
    truePeakMeter?.process(&mix)
    outputMeter?.process(&mix)
    dither?.process(&mix)
    output.play(mix.buffer)
    if mix.silencedSamples > 0 { output.addSilenced(mix.silencedSamples) }
  }

  /// Ends with the player's last frame, which a look-ahead limiter plays later than the player
  /// delivered it.
  @_noLocks
  private mutating func endWithPlayer(_ output: inout OutputCycle) {
    guard player?.isFinished == true else {
      playerEndFrame = nil
      return
    }
    let end =
      playerEndFrame
      ?? mix.time.frame &+ (player?.playedFrames ?? 0) &+ (protection?.delayFrames ?? 0)
    playerEndFrame = end
    let rest = max(0, end &- mix.time.frame)
    guard rest <= mix.frames else { return }
    output.end(after: rest)
    // The timeline ends here as well, unless there is an input, whose cycle is complete.
    if !hasInput { mix.shorten(to: rest) }
  }

  /// Performs the changes of other threads. It is not inlined, since they are rare.
  @_noLocks @inline(never)
  private mutating func takeRequests() {
    guard let rampFrames = requests?.rampFrames else { return }
    changes?.take()
    if let wanted = requests?.values.inputGain.gain, wanted.factor != inputGain.target.factor {
      inputGain.ramp(to: wanted, frames: rampFrames)
    }
    if let wanted = requests?.values.monitorGain.gain, let target = monitor?.target,
      wanted.factor != target.factor
    {
      monitor?.ramp(to: wanted, frames: rampFrames)
    }
    let outputTarget = outputGain?.target ?? .unity
    if let wanted = requests?.values.outputGain.gain, wanted.factor != outputTarget.factor {
      if outputGain == nil { outputGain = SmoothedGain(.unity) }
      outputGain?.ramp(to: wanted, frames: rampFrames)
    }
    let fullScale = microphoneGain
    protection?.setFullScale(fullScale)
    requests?.inputRecorder?.exchange(&inputRecorder)
    requests?.outputRecorder?.exchange(&outputRecorder)
    mountRequests()
  }

  /// Takes over the requested parts that are in use now.
  @_noLocks
  private mutating func mountRequests() {
    requests?.mount(
      &player, insert: &insert, inputInsert: &inputInsert, outputInsert: &outputInsert)
    hasInserts = insert != nil || inputInsert != nil || outputInsert != nil
  }

  /// The factor of the microphone on its way to the output, once its gains have reached their
  /// targets.
  var microphoneGain: Gain {
    @_noLocks
    get { Gain(factor: inputGain.target.factor * (monitor?.target.factor ?? 1)) }
  }

  @_noLocks @inline(never)
  private mutating func runEffects() {
    mix.beginChange()
    insert?.process(
      &mix.buffer, frames: mix.frames, startFrame: mix.time.frame, lostFrames: mix.time.lostFrames)
  }

  @_noLocks @inline(never)
  private mutating func runInputEffects() {
    microphone.beginChange()
    inputInsert?.process(
      &microphone.buffer, frames: microphone.frames, startFrame: microphone.time.frame,
      lostFrames: microphone.time.lostFrames)
  }

  @_noLocks @inline(never)
  private mutating func runOutputEffects() {
    mix.beginChange()
    outputInsert?.process(
      &mix.buffer, frames: mix.frames, startFrame: mix.time.frame, lostFrames: mix.time.lostFrames)
  }

  /// Prepares the effects. Before the first cycle.
  public mutating func prepare(_ configuration: DuplexConfiguration) {
    let input = EffectFormat(
      sampleRate: configuration.sampleRate, channelCount: microphone.buffer.channelCount,
      maximumFrames: microphone.buffer.frameCount)
    let output = EffectFormat(
      sampleRate: configuration.sampleRate, channelCount: mix.buffer.channelCount,
      maximumFrames: mix.buffer.frameCount)
    inputInsert?.prepare(input)
    insert?.prepare(output)
    outputInsert?.prepare(output)
    requests?.prepare(input: input, output: output)
    // Parts that are already in use run from the first cycle on.
    mountRequests()
  }

  /// The time at which the last cycle ended; frame 0 before the first one.
  public var end: CycleTime {
    let isMicrophone = microphone.time.frame >= mix.time.frame
    let (time, frames) =
      isMicrophone ? (microphone.time, microphone.frames) : (mix.time, mix.frames)
    return CycleTime(frame: time.frame + frames, nanoseconds: time.nanoseconds, lostFrames: 0)
  }

  /// Throws `.invalidRequest` if the mixer was made for other channels or a shorter period than the
  /// device has.
  borrowing func checkShape(_ configuration: DuplexConfiguration) throws(DeviceFailure) {
    try microphone.check(configuration.capture, "input", configuration.periodFrames)
    try mix.check(configuration.playback, "output", configuration.periodFrames)
  }

  /// Ends the recordings, or returns them to the owner that continues them. After the last cycle.
  public mutating func finish() {
    if let returnedParts = requests?.returnedParts {
      var parts = MixerParts()
      parts.inputRecorder = inputRecorder.take()
      parts.outputRecorder = outputRecorder.take()
      if end.frame > 0 { parts.end = end }
      return returnedParts.withLock { $0 = parts.take() }
    }
    inputRecorder?.finish()
    outputRecorder?.finish()
    echoReferenceRecorder?.finish()
  }
}
