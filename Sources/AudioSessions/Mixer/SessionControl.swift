import AudioBasics
import AudioDevices
import RealtimeAudio

/// The place in the signal path where an effect is inserted.
public enum InsertPoint: Sendable, Hashable, CaseIterable {
  /// On the input: after its gain, before its meter, recorder and monitor. The effect is recorded
  /// and played.
  case input
  /// Between the microphone and the output: after the monitor's gain, before the limiter and the
  /// player. The effect is played, and not in the recording of the microphone.
  case monitor
}

/// Changes a mixer while sound runs: its gains, its effects. All calls may be made on any thread
/// but the audio thread.
///
/// The audio thread compares one number a cycle to find out whether anything changed. An insert
/// without an effect, or a player that was never used, costs it nothing. A control may be installed
/// on one mixer after the other.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// var mixer = Mixer(opened.configuration)
/// let control = SessionControl()
/// control.inputGain = Gain(decibels: -6)
/// control.install(on: &mixer, opened.configuration, playsMicrophone: true)
/// control.inputGain = .unity  // reached within 10 ms
/// ```
public final class SessionControl: Sendable {
  /// The values that were set, as the audio thread reads them.
  struct RequestedValues: ~Copyable {
    var inputGain = PublishedValue()
    var monitorGain = PublishedValue()
    var outputGain = PublishedValue()
    var usesPlayer = PublishedValue()
  }

  private let values: MutexBox<RequestedValues>
  private let views: MixerRequestViews
  private let changes = ChangeSignal()
  private let inputInsert = EffectInsert()
  private let monitorInsert = EffectInsert()

  /// A control with all gains at one and no effects.
  public init() {
    var values = RequestedValues()
    values.inputGain.publish(gain: .unity)
    values.monitorGain.publish(gain: .unity)
    values.outputGain.publish(gain: .unity)
    views = Self.views(values)
    self.values = MutexBox(values)
  }

  /// The gain of the microphone before it is recorded and played; changes take 10 ms.
  public var inputGain: Gain {
    get { views.inputGain.gain }
    set { change { $0.inputGain.publish(gain: newValue) } }
  }

  /// The gain of the microphone in the output; changes take 10 ms.
  public var monitorGain: Gain {
    get { views.monitorGain.gain }
    set { change { $0.monitorGain.publish(gain: newValue) } }
  }

  /// The gain of all that is played, before the limiter; changes take 10 ms.
  public var outputGain: Gain {
    get { views.outputGain.gain }
    set { change { $0.outputGain.publish(gain: newValue) } }
  }

  /// Adds `effect` after the effects at `point`, at most `EffectInsert.mostEffects`. It runs from
  /// the next cycle on. `remove` takes away what the answer stands for.
  @discardableResult
  public func insert<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect, at point: InsertPoint
  ) -> EffectID {
    let id =
      switch point {
      case .input: inputInsert.append(effect)
      case .monitor: monitorInsert.append(effect)
      }
    announce()
    return id
  }

  /// Takes an effect away that was inserted, and frees it once no cycle runs it any more; false
  /// where it is not there.
  @discardableResult
  public func remove(_ effect: EffectID) -> Bool {
    inputInsert.remove(effect) || monitorInsert.remove(effect)
  }

  /// Connects this control to `mixer`, a mixer for a unit of this configuration, which begins with
  /// the present gains. With `playsMicrophone` the mixer plays the microphone at `monitorGain`.
  /// Before the first cycle. A mixer that has an insert or a player of its own runs these, and not
  /// the effects or the player of this control.
  public func install(
    on mixer: inout Mixer, _ configuration: DuplexConfiguration, playsMicrophone: Bool
  ) {
    mixer.changes = changes.makeView()
    var requests = MixerRequests(
      values.withLock { Self.views($0) }, sampleRate: configuration.sampleRate)
    mixer.inputGain = SmoothedGain(requests.values.inputGain.gain)
    if playsMicrophone {
      // Too slow to click, too fast to miss a word.
      mixer.monitor = SmoothedGain(
        fadingInTo: requests.values.monitorGain.gain, frames: requests.glideFrames)
    }
    // A gain of one costs nothing as long as it is nil.
    let outputGain = requests.values.outputGain.gain
    if outputGain != .unity { mixer.outputGain = SmoothedGain(outputGain) }
    if configuration.capture != nil { requests.inputInsert = inputInsert.share() }
    if configuration.playback != nil { requests.insert = monitorInsert.share() }
    mixer.requests = consume requests
  }

  /// Has the mixer run the player that it holds, from the next cycle on.
  package func usePlayer() {
    if views.usesPlayer.value == 0 { change { $0.usesPlayer.publish(1) } }
  }

  /// Has the mixer look for what is new.
  package func announce() { changes.raise() }

  private func change(_ publish: (inout RequestedValues) -> Void) {
    values.withLock { publish(&$0) }
    announce()
  }

  private static func views(_ values: borrowing RequestedValues) -> MixerRequestViews {
    MixerRequestViews(
      inputGain: values.inputGain.makeView(), monitorGain: values.monitorGain.makeView(),
      outputGain: values.outputGain.makeView(), usesPlayer: values.usesPlayer.makeView())
  }
}
