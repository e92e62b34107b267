import AudioBasics
import AudioDevices
import RealtimeAudio

/// Where an effect is inserted.
public enum InsertPoint: Sendable, Hashable, CaseIterable {
  /// On the input: behind its gain, before its meter and all that records or plays it. Recorded and heard.
  case input
  /// On the microphone's way to the output: behind the monitor's gain, before the limiter and the player. Heard, and
  /// not recorded with the microphone.
  case monitor
}

/// Changes a mixer while sound runs: its gains, its effects. All calls may be made on any thread but the audio thread.
///
/// The mixer looks for all changes at once, at one number a cycle. What nobody has used yet, an insert without an
/// effect say, costs it nothing. A control may be installed on one mixer after the other.
///
/// ```swift
/// let opened = try OpenDevice(opening: DeviceSelection(device: "sim:clock=free"))
/// var mixer = Mixer(opened.configuration)
/// let control = SessionControl()
/// control.inputGain = Gain(decibels: -6)
/// control.install(on: &mixer, opened.configuration, playsMicrophone: true)
/// control.inputGain = .unity  // heard within 10 ms
/// ```
public final class SessionControl: Sendable {
  /// What is asked for.
  struct Wishes: ~Copyable {
    var inputGain = AtomicCounter()
    var monitorGain = AtomicCounter()
    var outputGain = AtomicCounter()
    var usesPlayer = AtomicCounter()
  }

  private let wishes: MutexBox<Wishes>
  private let views: MixerWishes
  private let changes = ChangeSignal()
  private let inputInsert = EffectInsert()
  private let monitorInsert = EffectInsert()

  /// A control with all gains at one and no effects.
  public init() {
    var wishes = Wishes()
    wishes.inputGain.publish(gain: .unity)
    wishes.monitorGain.publish(gain: .unity)
    wishes.outputGain.publish(gain: .unity)
    views = Self.views(wishes)
    self.wishes = MutexBox(wishes)
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

  /// Adds `effect` behind those that are at `point`. It is heard from the next cycle on.
  public func insert<Effect: AudioEffect & ~Copyable>(
    _ effect: consuming sending Effect, at point: InsertPoint
  ) {
    switch point {
    case .input: inputInsert.append(effect)
    case .monitor: monitorInsert.append(effect)
    }
    announce()
  }

  /// Lets it steer `mixer`, which is for a unit of this configuration and begins with the gains as they stand. Plays
  /// the microphone, at the monitor's gain, where `playsMicrophone`. Before the first cycle.
  public func install(
    on mixer: inout Mixer, _ configuration: DuplexConfiguration, playsMicrophone: Bool
  ) {
    mixer.changes = changes.makeView()
    var requests = MixerRequests(
      wishes.withLock { Self.views($0) }, sampleRate: configuration.sampleRate)
    mixer.inputGain = SmoothedGain(requests.inputGain.gain)
    if playsMicrophone {
      // Too slow to click, too fast to miss a word.
      mixer.monitor = SmoothedGain(
        fadingInTo: requests.monitorGain.gain, frames: requests.glideFrames)
    }
    // A gain of one costs nothing as long as it is nil.
    if requests.outputGain.gain != .unity {
      mixer.outputGain = SmoothedGain(requests.outputGain.gain)
    }
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

  private func change(_ publish: (inout Wishes) -> Void) {
    wishes.withLock { publish(&$0) }
    announce()
  }

  private static func views(_ wishes: borrowing Wishes) -> MixerWishes {
    MixerWishes(
      inputGain: wishes.inputGain.makeView(), monitorGain: wishes.monitorGain.makeView(),
      outputGain: wishes.outputGain.makeView(), usesPlayer: wishes.usesPlayer.makeView())
  }
}
