import CSpeexVoice

/// The preprocessor of speexdsp for one channel, which reduces the residual echo. The output is one
/// block late.
final class Preprocessor {
  private let state: OpaquePointer
  /// The echo canceller from which the state reads the residual echo, to reduce it as well. This
  /// reference keeps it alive.
  var canceller: EchoCanceller? {
    didSet {
      speex_preprocess_ctl(
        state, SPEEX_PREPROCESS_SET_ECHO_STATE, canceller.map { UnsafeMutableRawPointer($0.state) })
    }
  }

  /// Creates a preprocessor that reduces the residual echo of a canceller. Throws if memory is
  /// insufficient.
  init(blockFrames: Int, sampleRate: Int) throws(CleaningFailure) {
    guard let state = speex_preprocess_state_init(Int32(blockFrames), Int32(sampleRate)) else {
      throw .outOfMemory
    }
    self.state = state
    // Without noise suppression, the gains for the residual echo would not be applied either.
    set(SPEEX_PREPROCESS_SET_DENOISE, 1)
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
  }

  deinit {
    speex_preprocess_state_destroy(state)
  }

  /// Adds a block and replaces it by the previous block, cleaned.
  func run(_ block: inout [Int16]) {
    speex_preprocess_run(state, &block)
  }

  private func set(_ request: Int32, _ value: Int32) {
    var value = value
    speex_preprocess_ctl(state, request, &value)
  }
}
