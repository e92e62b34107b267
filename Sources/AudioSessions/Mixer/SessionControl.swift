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
  /// On the output: on all that is played, microphone and player, before the gain of the output,
  /// the dim, the limiter and the recording of the output.
  case output
}

/// A control that changes a mixer while audio runs: its gains, its effects. All calls can be made
/// on any thread except the audio thread.
///
/// The audio thread compares one number per cycle to detect changes. An insert without an effect,
/// or a player that was never used, costs it nothing. A control can be installed on several mixers,
/// one after the other.
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
  /// The requested values, which the audio thread reads.
  struct RequestedValues: ~Copyable {
    var inputGain = PublishedGain(.unity)
    var monitorGain = PublishedGain(.unity)
    var outputGain = PublishedGain(.unity)
    var usesPlayer = PublishedFlag()
  }

  private let values: MutexBox<RequestedValues>
  private let views: MixerRequestViews
  private let changes = ChangeSignal()
  private let inputInsert = EffectInsert()
  private let monitorInsert = EffectInsert()
  private let outputInsert = EffectInsert()

  /// Creates a control with all gains at one and no effects.
  public init() {
    let values = RequestedValues()
    views = Self.views(values)
    self.values = MutexBox(values)
  }

  /// The gain of the microphone before it is recorded and played; changes take 10 ms.
  public var inputGain: Gain {
    get { views.inputGain.gain }
    set { change { $0.inputGain.publish(newValue) } }
  }

  /// The gain of the microphone in the output; changes take 10 ms.
  public var monitorGain: Gain {
    get { views.monitorGain.gain }
    set { change { $0.monitorGain.publish(newValue) } }
  }

  /// The gain of the whole output, before the limiter; changes take 10 ms.
  public var outputGain: Gain {
    get { views.outputGain.gain }
    set { change { $0.outputGain.publish(newValue) } }
  }

  /// Adds `effect` after the effects at `point`, at most `EffectInsert.maximumEffects`. It runs
  /// from the next cycle on. `remove` accepts the returned identifier.
  @discardableResult
  public func insert<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect, at point: InsertPoint
  ) -> EffectID {
    let id =
      switch point {
      case .input: inputInsert.append(effect)
      case .monitor: monitorInsert.append(effect)
      case .output: outputInsert.append(effect)
      }
    signalChange()
    return id
  }

  /// Removes an inserted effect, and frees it when no cycle runs it any more. Returns false if it
  /// is not inserted.
  @discardableResult
  public func remove(_ effect: EffectID) -> Bool {
    inputInsert.remove(effect) || monitorInsert.remove(effect) || outputInsert.remove(effect)
  }

  /// Connects this control to `mixer`, a mixer for a unit of this configuration, which starts with
  /// the present gains. With `playsMicrophone` the mixer plays the microphone at `monitorGain`.
  /// Before the first cycle. A mixer that already has an insert or a player runs these, and not the
  /// effects or the player of this control.
  public func install(
    on mixer: inout Mixer, _ configuration: DuplexConfiguration, playsMicrophone: Bool
  ) {
    mixer.changes = changes.makeView()
    var requests = MixerRequests(
      values.withLock { Self.views($0) }, sampleRate: configuration.sampleRate)
    mixer.inputGain = SmoothedGain(requests.values.inputGain.gain)
    if playsMicrophone {
      // The fade is long enough to avoid a click, and short enough to lose no word.
      mixer.monitor = SmoothedGain(
        fadingInTo: requests.values.monitorGain.gain, frames: requests.rampFrames)
    }
    // A gain of one costs nothing if it is nil.
    let outputGain = requests.values.outputGain.gain
    if outputGain != .unity { mixer.outputGain = SmoothedGain(outputGain) }
    if configuration.capture != nil { requests.inputInsert = inputInsert.share() }
    if configuration.playback != nil {
      requests.insert = monitorInsert.share()
      requests.outputInsert = outputInsert.share()
    }
    mixer.requests = consume requests
  }

  /// Makes the mixer run the player that it holds, from the next cycle on.
  package func usePlayer() {
    if !views.usesPlayer.isSet { change { $0.usesPlayer.publish(true) } }
  }

  /// Makes the mixer check for changes.
  package func signalChange() { changes.raise() }

  private func change(_ publish: (inout RequestedValues) -> Void) {
    values.withLock { publish(&$0) }
    signalChange()
  }

  private static func views(_ values: borrowing RequestedValues) -> MixerRequestViews {
    MixerRequestViews(
      inputGain: values.inputGain.makeView(), monitorGain: values.monitorGain.makeView(),
      outputGain: values.outputGain.makeView(), usesPlayer: values.usesPlayer.makeView())
  }
}
