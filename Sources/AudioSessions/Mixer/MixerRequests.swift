// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's end of the changes that other threads make to a mixer; their end is
/// `SessionControl`.
struct MixerRequests: ~Copyable {
  /// The values requested now.
  let values: MixerRequestViews
  /// The number of frames over which a gain changes: 10 ms.
  let rampFrames: Int

  /// The parts that wait here until they are used.
  var player: PlayerStage?
  var insert: EffectInsert?
  var inputInsert: EffectInsert?
  var outputInsert: EffectInsert?

  /// The source of recorders while audio runs, and their destination after the last cycle.
  var inputRecorder: HandoffReceiver<Recorder>?
  var outputRecorder: HandoffReceiver<Recorder>?
  var returnedParts: MutexBox<MixerParts?>?

  init(_ values: consuming MixerRequestViews, sampleRate: Int) {
    rampFrames = max(1, sampleRate / 100)
    self.values = values
  }

  /// Moves the parts that are in use to the mixer, unless it has such a part already.
  @_noLocks
  mutating func mount(
    _ player: inout PlayerStage?, insert: inout EffectInsert?, inputInsert: inout EffectInsert?,
    outputInsert: inout EffectInsert?
  ) {
    if player == nil, self.player != nil, values.usesPlayer.isSet {
      swap(&player, &self.player)
    }
    if insert == nil, self.insert?.isEmpty == false { swap(&insert, &self.insert) }
    if inputInsert == nil, self.inputInsert?.isEmpty == false {
      swap(&inputInsert, &self.inputInsert)
    }
    if outputInsert == nil, self.outputInsert?.isEmpty == false {
      swap(&outputInsert, &self.outputInsert)
    }
  }

  /// Prepares the effects that wait. Before the first cycle.
  mutating func prepare(input: EffectFormat, output: EffectFormat) {
    inputInsert?.prepare(input)
    insert?.prepare(output)
    outputInsert?.prepare(output)
  }
}

/// The audio thread's views of the values that a control requests.
struct MixerRequestViews: ~Copyable, Sendable {
  let inputGain: PublishedGainView
  let monitorGain: PublishedGainView
  let outputGain: PublishedGainView
  let usesPlayer: PublishedFlagView
}
