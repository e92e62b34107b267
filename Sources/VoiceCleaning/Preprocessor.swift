import CSpeexVoice

/// speexdsp's preprocessor for one channel: lowers noise and what is left of an echo, or judges by
/// how much speech should be louder. Its blocks come out one block late.
final class Preprocessor {
  private let state: OpaquePointer
  /// Whom the state asks for the echo that is left, to lower it, too; kept alive here.
  var canceller: EchoCanceller? {
    didSet {
      speex_preprocess_ctl(
        state, SPEEX_PREPROCESS_SET_ECHO_STATE, canceller.map { UnsafeMutableRawPointer($0.state) })
    }
  }

  /// What noise is lowered by at most, in decibels.
  private static let noiseSuppression: Int32 = 18
  /// The most that quiet speech is raised by, in decibels.
  private static let maximumGain: Int32 = 30

  /// Lowers noise if it `denoises`, and what a canceller has left of an echo.
  init(denoises: Bool, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    guard let state = speex_preprocess_state_init(Int32(blockFrames), Int32(sampleRate)) else {
      throw .outOfMemory
    }
    self.state = state
    // Without noise suppression, the gains that lower an echo would not be applied either.
    set(SPEEX_PREPROCESS_SET_DENOISE, 1)
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, denoises ? -Self.noiseSuppression : 0)
  }

  /// Judges how loud speech is, to bring it to `target` (of `SixteenBits`).
  init(target: Int32, blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    guard let state = speex_preprocess_state_init(Int32(blockFrames), Int32(sampleRate)) else {
      throw .outOfMemory
    }
    self.state = state
    set(SPEEX_PREPROCESS_SET_DENOISE, 0)
    set(SPEEX_PREPROCESS_SET_AGC, 1)
    set(SPEEX_PREPROCESS_SET_AGC_TARGET, target)
    set(SPEEX_PREPROCESS_SET_AGC_MAX_GAIN, Self.maximumGain)
  }

  deinit {
    speex_preprocess_state_destroy(state)
  }

  /// Takes in a block and puts the one before, cleaned, in its place.
  func run(_ block: inout [Int16]) {
    speex_preprocess_run(state, &block)
  }

  /// The gain it has come to, in whole decibels.
  var gainDecibels: Int32 {
    var gain: Int32 = 0
    speex_preprocess_ctl(state, SPEEX_PREPROCESS_GET_AGC_GAIN, &gain)
    return gain
  }

  private func set(_ request: Int32, _ value: Int32) {
    var value = value
    speex_preprocess_ctl(state, request, &value)
  }
}
