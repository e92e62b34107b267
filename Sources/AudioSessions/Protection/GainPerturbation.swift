// Audio thread.

import AudioBasics
import RealtimeAudio

/// The sending of a code of dips (`PerturbationCode`): the gain of the microphone in the output
/// falls in each dip, and rises again after it.
struct GainPerturbation: BitwiseCopyable {
  /// Whether a code is being sent.
  private(set) var isSending = false
  /// Whether the dips of the latest code are deep.
  private(set) var isDeep = false

  private let hopFrames: Int
  private let shallowDip = Gain(realtimeDecibels: LoopGainEstimator.dip(isDeep: false))
  private let deepDip = Gain(realtimeDecibels: LoopGainEstimator.dip(isDeep: true))
  private var gain = SmoothedGain(.unity)
  /// The number of frames until the code begins.
  private var framesToCode = 0
  /// The number of whole hops of the code that were sent, and of frames of the hop after them.
  private var sentHops = 0
  private var sentFrames = 0

  init(hopFrames: Int) {
    self.hopFrames = hopFrames
  }

  /// Whether all samples remain unchanged.
  var isTransparent: Bool { @_noLocks get { !isSending && gain.isTransparent } }

  /// Begins a code after the next `frames` frames.
  @_noLocks
  mutating func begin(isDeep: Bool, after frames: Int) {
    self.isDeep = isDeep
    isSending = true
    framesToCode = frames
    sentHops = 0
    sentFrames = 0
  }

  /// Stops sending. The gain remains as it is until another code begins or `end` is called.
  @_noLocks
  mutating func pause() {
    isSending = false
  }

  /// Stops sending, and raises the gain to unity within a hop.
  @_noLocks
  mutating func end() {
    isSending = false
    gain.ramp(to: .unity, frames: hopFrames)
  }

  /// Applies the gain to the first `frames` frames.
  @_noLocks
  mutating func process(_ sound: inout SampleBuffer, frames: Int) {
    var done = min(frames, framesToCode)
    framesToCode &-= done
    if done > 0, !gain.isTransparent { gain.process(&sound, from: 0, frames: done) }
    while isSending && done < frames {
      if sentFrames == 0 {
        let lowered = isDeep ? deepDip : shallowDip
        gain.ramp(to: PerturbationCode.isDip(sentHops) ? lowered : .unity, frames: hopFrames)
      }
      let part = min(frames &- done, hopFrames &- sentFrames)
      gain.process(&sound, from: done, frames: part)
      done &+= part
      sentFrames &+= part
      if sentFrames == hopFrames {
        sentFrames = 0
        sentHops &+= 1
      }
    }
    if done < frames && !gain.isTransparent {
      gain.process(&sound, from: done, frames: frames &- done)
    }
  }
}
