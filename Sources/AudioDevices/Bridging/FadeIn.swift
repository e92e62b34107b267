// Audio thread.

import AudioBasics

/// Silence while a device is being relocked, and ten milliseconds from there to full level.
struct FadeIn: BitwiseCopyable {
  private let step: Float
  private var gain: Float = 1
  private var isMuted = false

  @_noLocks
  init(sampleRate: Int) {
    step = 100 / Float(sampleRate)
  }

  /// Whether it changes what passes.
  var isActive: Bool {
    @_noLocks get { gain < 1 }
  }

  /// Silence from the next frame on.
  @_noLocks
  mutating func mute() {
    gain = 0
    isMuted = true
  }

  /// Up from here.
  @_noLocks
  mutating func open() { isMuted = false }

  /// Takes the first `frames` frames of `buffer`, which are the next ones.
  @_noLocks
  mutating func apply(to buffer: inout SampleBuffer, frames: Int) {
    guard gain < 1 else { return }
    guard !isMuted else { return buffer.clear(frames: frames) }
    let rising = min(frames, Int(clamping: (1 - gain) / step) &+ 1)
    buffer.ramp(frames: rising, from: gain, step: step)
    gain = min(1, gain + Float(rising) * step)
  }
}
