// Audio thread.
import AudioBasics
import CSpeexDSP

/// speexdsp's resampler at a fixed ratio, for ratios whose terms are too large for a `PolyphaseBank`:
/// it interpolates between the weights it has.
struct SpeexResampler: ~Copyable, @unchecked Sendable {
  // @unchecked because the resampler has one owner, which moves with the value.
  // The resampler's 32-bit products overflow for changing ratios with terms above 65,535; those of
  // a ratio that never changes stay below 2^29 for these rates (256 taps times the rate).
  private let resampler: OpaquePointer
  /// Input frames by which all that passes is late while silence is not skipped.
  let delayFrames: Int
  private var discarded: SampleBuffer

  /// Not on the audio thread: computes the filter.
  static func make(
    channelCount: Int, inputRate: Int, outputRate: Int, quality: Int
  ) throws(RateFailure) -> SpeexResampler {
    guard
      let resampler = speex_resampler_init(
        UInt32(channelCount), UInt32(inputRate), UInt32(outputRate), Int32(quality), nil)
    else { throw .outOfMemory }
    return SpeexResampler(resampler, channelCount)
  }

  private init(_ resampler: OpaquePointer, _ channelCount: Int) {
    self.resampler = resampler
    delayFrames = Int(speex_resampler_get_input_latency(resampler))
    discarded = SampleBuffer(frameCount: 64, channelCount: channelCount)
  }

  deinit {
    speex_resampler_destroy(resampler)
  }

  /// Begins with the first input frame itself. Before that frame.
  @_noLocks
  func skipSilence() {
    _ = speex_resampler_skip_zeros(resampler)
  }

  /// Begins anew.
  @_noLocks
  mutating func reset(skipsSilence: Bool) {
    // The resampler's own reset leaves part of the last channel's past behind (1.2.1): silence the
    // filter's whole length first.
    var rest = 2 &* delayFrames
    while rest > 0 {
      let (consumed, produced) = convert(nil, rest, into: discarded.base, discarded.frameCount)
      if consumed == 0 && produced == 0 { break }
      rest &-= consumed
    }
    _ = speex_resampler_reset_mem(resampler)
    if skipsSilence { skipSilence() }
  }

  /// Converts up to `frames` frames, silence where there is no `source`, into up to `room` frames.
  @_noLocks
  func convert(
    _ source: UnsafePointer<Float>?, _ frames: Int, into target: UnsafeMutablePointer<Float>,
    _ room: Int
  ) -> (consumed: Int, produced: Int) {
    var consumed = UInt32(truncatingIfNeeded: min(frames, 0x3FFF_FFFF))
    var produced = UInt32(truncatingIfNeeded: min(room, 0x3FFF_FFFF))
    _ = speex_resampler_process_interleaved_float(resampler, source, &consumed, target, &produced)
    return (Int(consumed), Int(produced))
  }
}
