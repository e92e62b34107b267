import AudioBasics
import AudioDevices
import TestSupport
import Testing

@testable import AudioSessions

/// Tests of a feedback suppressor with cycles of all lengths and sounds at its limits.
@Suite struct SuppressorCyclesTests {
  /// A suppressor with the bus of its cycles.
  private struct Rig: ~Copyable {
    var suppressor: FeedbackSuppressor
    var bus: MixerBus
    let periodFrames: Int
    var frame = 0
    /// The number of cycles in which a code was sent.
    var sendingCycles = 0

    init(sampleRate: Int = 48000, periodFrames: Int, channelCount: Int = 2) {
      suppressor = FeedbackSuppressor(
        sampleRate: sampleRate, channelCount: channelCount,
        events: FeedbackEventWriter(sampleRate: sampleRate))
      bus = MixerBus(periodFrames: periodFrames, channelCount: channelCount)
      self.periodFrames = periodFrames
    }

    /// Processes `cycles` cycles of a sound whose sample with this index is `sample`. The peak is
    /// known before if it `isMeasured`.
    mutating func run(cycles: Int, isMeasured: Bool = false, _ sample: (Int) -> Float) {
      for _ in 0..<cycles {
        bus.begin(
          frames: periodFrames, at: CycleTime(frame: frame, nanoseconds: 0, lostFrames: 0))
        for index in 0..<bus.buffer.sampleCount { bus.buffer[index] = sample(index) }
        if isMeasured { bus.measurePeak() }
        if suppressor.process(&bus) { sendingCycles += 1 }
        frame += periodFrames
      }
    }
  }

  @Test(
    arguments: [8000, 44100, 48000, 64000, 96000, 192_000, 352_800, 384_000, 768_000],
    [1, 2, 6])
  func `sound of every rate is analysed in cycles of every length`(
    sampleRate: Int, channelCount: Int
  ) {
    for periodFrames in [1, 16, 63, 64, 100, 256, 512, 4096] {
      var rig = Rig(
        sampleRate: sampleRate, periodFrames: periodFrames, channelCount: channelCount)
      var chance = Chance(3)
      let noise = (0..<8192).map { _ in 0.02 * Float(chance.next()) }
      var next = 0
      rig.run(cycles: min(3000, sampleRate / 2 / periodFrames + 1)) { _ in
        next += 1
        return noise[next % 8192]
      }
      #expect(rig.suppressor.analysis.bands.levels.max() > -60)
      #expect(rig.sendingCycles == 0 && rig.suppressor.duckCount == 0)
    }
  }

  @Test(arguments: [64, 256], [false, true])
  func `silence after a clipped cycle is not taken for a sound at the limit`(
    periodFrames: Int, isMeasured: Bool
  ) {
    var rig = Rig(periodFrames: periodFrames)
    rig.run(cycles: 1, isMeasured: isMeasured) { $0 % 2 == 0 ? 1 : -1 }
    rig.run(cycles: 48000 / periodFrames, isMeasured: isMeasured) { _ in 0 }
    #expect(!rig.suppressor.limits.isOverdriven && rig.suppressor.limits.reachedHops == 0)
    rig.run(cycles: 4800 / periodFrames, isMeasured: isMeasured) { $0 % 8 < 4 ? 0.1 : -0.1 }
    #expect(rig.sendingCycles == 0)
  }

  @Test func `a sound that only grows like the last howl is tested with deep dips once`() {
    var rig = Rig(periodFrames: 64, channelCount: 1)
    var fit = LoopFit.none
    (fit.lag, fit.gain) = (10, 0.5)
    rig.suppressor.howl.loop = ProvenLoop(fit, band: 2, gain: 0)
    // A tone of 2.4 kHz grows by 36 dB per second, from -50 dBFS on.
    var (frame, hadLoop, depths) = (0, [Bool](), [Bool]())
    for _ in 0..<4 {
      for cycle in 0..<1125 {
        let amplitude = cycle > 600 ? 0 : Gain(decibels: -50 + 0.048 * Double(cycle)).factor
        let wasTesting = rig.suppressor.perturbation.isSending
        rig.run(cycles: 1) { _ in
          frame += 1
          return frame % 20 < 10 ? amplitude : -amplitude
        }
        let isTesting = rig.suppressor.perturbation.isSending
        guard isTesting && !wasTesting else { continue }
        hadLoop.append(rig.suppressor.suspect.isReturningHowl)
        depths.append(rig.suppressor.perturbation.isDeep)
      }
    }
    let (loop, ducks) = (rig.suppressor.howl.loop, rig.suppressor.duckCount)
    #expect(hadLoop.first == true && depths.first == true && hadLoop.dropFirst().allSatisfy { !$0 })
    #expect(loop == nil && ducks == 0)
  }

  @Test(arguments: [16, 63, 64, 1000])
  func `an external sound at full scale is not analysed while no code may be sent for long`(
    periodFrames: Int
  ) {
    var rig = Rig(periodFrames: periodFrames, channelCount: 1)
    var (pauses, tests) = (0, 0)
    var (wasPaused, wasTesting) = (false, false)
    for _ in 0..<24 * 48000 / periodFrames {
      rig.run(cycles: 1) { $0 % 8 < 4 ? 1 : -1 }
      let isPaused = rig.suppressor.analysis.bands.isPaused
      if case .stabilizing = rig.suppressor.stage {
        tests += wasTesting ? 0 : 1
        wasTesting = true
      } else {
        wasTesting = false
      }
      pauses += isPaused && !wasPaused ? 1 : 0
      wasPaused = isPaused
    }
    // The delays after the tests are 3, 48, 768 and three times 3072 hops; the last four of them
    // begin with a pause.
    #expect(tests == 6)
    #expect(pauses == 4)
    rig.run(cycles: 48000 * 10 / periodFrames) { $0 % 8 < 4 ? 0.1 : -0.1 }
    let level = rig.suppressor.analysis.bands.levels.max()
    let missing = rig.frame / 128 - rig.suppressor.hop
    #expect(level > -30)
    #expect(0..<HopLevels.levelHops ~= missing)
  }

  /// The sound grows by 60 dB within a second, is at full scale for a second, and is silent then.
  @Test(arguments: [16, 63, 64, 512, 1000])
  func `the analysis is the same whoever measures the peak of a cycle`(periodFrames: Int) {
    var rig = Rig(periodFrames: periodFrames)
    var other = Rig(periodFrames: periodFrames)
    var levels: [[SIMD4<Float>]] = [[], []]
    for cycle in 0..<3 * 48000 / periodFrames {
      let seconds = Double(cycle * periodFrames) / 48000
      let amplitude = seconds > 2 ? 0 : Gain(decibels: min(0, 60 * seconds - 60)).factor
      let sample = { (index: Int) in index / 2 % 24 < 12 ? amplitude : -amplitude }
      rig.run(cycles: 1, isMeasured: false, sample)
      other.run(cycles: 1, isMeasured: true, sample)
      levels[0].append(rig.suppressor.analysis.bands.levels)
      levels[1].append(other.suppressor.analysis.bands.levels)
    }
    let (sending, others) = (rig.sendingCycles, other.sendingCycles)
    #expect(levels[0] == levels[1] && sending == others && sending > 0)
  }

  @Test func `a cycle without frames changes nothing`() {
    var rig = Rig(periodFrames: 64)
    var other = Rig(periodFrames: 64)
    for cycle in 0..<200 {
      let sample = { (index: Int) in Float((index * 7 + cycle) % 19) * 0.01 }
      rig.run(cycles: 1, sample)
      other.run(cycles: 1, sample)
      other.bus.begin(frames: 0, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
      other.suppressor.process(&other.bus)
    }
    let (levels, others) = (
      rig.suppressor.analysis.bands.levels, other.suppressor.analysis.bands.levels
    )
    #expect(levels == others && levels.max() > -60)
  }
}
