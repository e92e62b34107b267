// Audio thread.
import AudioBasics

/// What follows from a proof.
extension FeedbackGuard {
  @_noLocks
  mutating func duck(_ answer: LoopCode.Answer, at frame: Int) {
    let limited = -reductionDecibels
    let loopGain = min(24, max(limited, max(answer.gain, growth * Float(answer.lag) / 2)))
    let isRelapse = ceiling < 0
    ceiling = max(-40, min(isRelapse ? decibels - 6 : 0, decibels - max(0, loopGain) - 3))
    if isRelapse { holdHops = min(60000, holdHops &* 2) }
    duckCount &+= 1
    failures = 0
    duckedLevel = history.level(band: suspect, age: 0)
    news.tell(isDucked: true, pitchCosine: bands.pitchCosine(band: suspect), at: frame)
    stage = .ducked
    stageHop = hop
    decibels = -40
    gain.glide(to: RealtimeDecibels.gain(-40), frames: 2 &* hopFrames)
    endProbe()
  }

  /// The howl dies away in at least a third of a second; two seconds are enough for any.
  @_noLocks
  mutating func waitForQuiet(at frame: Int) {
    let level = history.level(band: suspect, age: 0)
    let waited = hop &- stageHop
    guard waited > 125, level < max(-55, duckedLevel - 20) || waited > 750 else { return }
    news.tell(isDucked: false, pitchCosine: bands.pitchCosine(band: suspect), at: frame)
    stage = .returning
    stageHop = hop
  }

  /// 15 dB a second up to the ceiling, and after a time 1 dB a second beyond it.
  @_noLocks
  mutating func giveBack() {
    if decibels < ceiling {
      decibels = min(ceiling, decibels + 0.04)
      stageHop = hop
    } else if hop &- stageHop > holdHops {
      ceiling = min(0, ceiling + 0.002_67)
      decibels = ceiling
    } else {
      return
    }
    gain.glide(to: RealtimeDecibels.gain(decibels), frames: hopFrames)
    if ceiling == 0 && decibels == 0 {
      gain.jump(to: 1)
      stage = .listening
    }
  }
}
