// Audio thread.
import AudioBasics
import AudioDevices
import RealtimeAudio

/// The audio thread's end of what other threads change on a mixer; theirs is `SessionControl`.
struct MixerRequests: ~Copyable {
  /// What is asked for now.
  let values: MixerRequestViews
  /// Frames that a gain takes to move: 10 ms.
  let glideFrames: Int

  /// Parts that wait here until they are used.
  var player: PlayerStage?
  var insert: EffectInsert?
  var inputInsert: EffectInsert?

  /// Where recorders come from while sound runs, and where they go after the last cycle.
  var recorder: HandoffReceiver<Recorder>?
  var mixRecorder: HandoffReceiver<Recorder>?
  var home: MutexBox<MixerParts?>?

  init(_ values: consuming MixerRequestViews, sampleRate: Int) {
    glideFrames = max(1, sampleRate / 100)
    self.values = values
  }

  /// Puts the parts that are used by now where they run, unless something runs there already.
  @_noLocks
  mutating func mount(
    _ player: inout PlayerStage?, insert: inout EffectInsert?, inputInsert: inout EffectInsert?
  ) {
    if player == nil, self.player != nil, values.usesPlayer.value != 0 {
      swap(&player, &self.player)
    }
    if insert == nil, self.insert?.isEmpty == false { swap(&insert, &self.insert) }
    if inputInsert == nil, self.inputInsert?.isEmpty == false {
      swap(&inputInsert, &self.inputInsert)
    }
  }

  /// Prepares the effects that wait. Before the first cycle.
  mutating func prepare(input: EffectFormat, output: EffectFormat) {
    inputInsert?.prepare(input)
    insert?.prepare(output)
  }
}

/// The audio thread's views of what a control asks for.
struct MixerRequestViews: ~Copyable, Sendable {
  let inputGain: PublishedValueView
  let monitorGain: PublishedValueView
  let outputGain: PublishedValueView
  let usesPlayer: PublishedValueView
}
