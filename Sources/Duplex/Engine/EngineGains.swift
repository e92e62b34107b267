import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// A gain that may be changed on any thread, and stays over a change of device.
final class EngineGain: Sendable {
  private struct State: ~Copyable {
    var control = GainControl()
    var value = Gain.unity
  }

  private let state = MutexBox(State())

  /// What was set last.
  var value: Gain {
    get { state.withLock { $0.value } }
    set {
      state.withLock { state in
        state.value = newValue
        state.control.set(newValue)
      }
    }
  }

  /// The end for the audio thread of one session.
  func makeRequest(at sampleRate: Int) -> GainRequest {
    state.withLock { $0.control.makeRequest(at: sampleRate) }
  }
}

/// The gains of an engine.
struct EngineGains: Sendable {
  /// Of the microphone before it is recorded and played.
  let input = EngineGain()
  /// Of the microphone in the output.
  let monitor = EngineGain()
  /// Of all that is played.
  let output = EngineGain()

  /// Lets them steer `mixer`, which begins where they stand.
  func install(on mixer: inout Mixer, _ configuration: DuplexConfiguration, monitors: Bool) {
    let rate = configuration.sampleRate
    if configuration.capture != nil {
      mixer.inputGain = SmoothedGain(input.value)
      mixer.inputGainRequest = input.makeRequest(at: rate)
    }
    if monitors {
      mixer.monitor = .fadeIn(to: monitor.value, at: rate)
      mixer.monitorGainRequest = monitor.makeRequest(at: rate)
    }
    if configuration.playback != nil {
      mixer.outputGain = SmoothedGain(output.value)
      mixer.outputGainRequest = output.makeRequest(at: rate)
    }
  }
}
