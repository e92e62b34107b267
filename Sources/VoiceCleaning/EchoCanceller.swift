import CSpeexVoice

/// speexdsp's echo canceller for one microphone and any number of loudspeakers: an adaptive filter
/// that learns how what is played sounds in the room. It adds no delay.
final class EchoCanceller {
  /// What the preprocessor asks for the echo that is left.
  let state: OpaquePointer
  private var output: [Int16]

  init(
    tailFrames: Int, speakerCount: Int, blockFrames: Int, sampleRate: Int
  ) throws(CleaningFailure) {
    guard
      let state = speex_echo_state_init_mc(
        Int32(blockFrames), Int32(tailFrames), 1, Int32(speakerCount))
    else { throw .outOfMemory }
    self.state = state
    output = Array(repeating: 0, count: blockFrames)
    var rate = Int32(sampleRate)
    speex_echo_ctl(state, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
  }

  deinit {
    speex_echo_state_destroy(state)
  }

  /// Takes out of a block what sounds like `played`, interleaved.
  func cancel(_ block: inout [Int16], played: [Int16]) {
    speex_echo_cancellation(state, block, played, &output)
    swap(&block, &output)
  }
}
