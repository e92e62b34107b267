import AudioDevices
import AudioSessions
import Testing

@testable import DelayEstimation
@testable import LatencyMeasurement

/// Tests of the judgement of measurements that are given as numbers.
@Suite struct RoundTripEstimateTests {
  private func estimate(
    _ frames: [Double], doubts: [DelayEstimate.Doubt] = [], bound: Double = 0.001,
    gain: Double = 1, sampleRate: Int = 48000
  ) throws -> RoundTripEstimate {
    let estimates = frames.map { delay in
      DelayEstimate(
        delayFrames: delay, phaseSlopeFrames: delay, strongestFrames: delay, gain: gain,
        signalToNoiseDB: 40, boundFrames: bound, score: 10, arrivals: [], doubts: doubts)
    }
    let pair = ChannelPair(fromChannel: 0, toChannel: 0, estimates: estimates)
    return try #require(RoundTripEstimate(pair, sampleRate: sampleRate))
  }

  @Test func `there is no estimate without a measurement`() {
    let pair = ChannelPair(fromChannel: 0, toChannel: 0, estimates: [])
    #expect(RoundTripEstimate(pair, sampleRate: 48000) == nil)
    #expect(RoundTripMeasurement(RoundTrips(), .nowhere, .init()) == nil)
    #expect(RoundTrips().failure == .noSignal(levelDBFS: -200, noiseDBFS: -200))
  }

  @Test func `measurements that agree are trusted, and the median is the result`() throws {
    let found = try estimate([812.2, 812, 812.1])
    #expect(found.verdict == .trusted && found.doubts.isEmpty && found.objections.isEmpty)
    #expect(found.frames == 812.1 && found.seconds == 812.1 / 48000)
    #expect(found.interval95.contains(812.1) && found.signalToNoiseDB == 40)
  }

  /// 30 microseconds are 1.44 frames at 48 kHz.
  @Test(
    arguments: [
      ([812, 812.7, 813.4], .doubtful), ([812, 812.7, 813.5], .refused), ([812, 813.3], .refused),
      ([812, 812.3, 812.5], .trusted),
    ] as [([Double], RoundTripEstimate.Verdict)])
  func `measurements that differ are a drift, which matters from 30 microseconds on`(
    frames: [Double], verdict: RoundTripEstimate.Verdict
  ) throws {
    let found = try estimate(frames)
    #expect(found.verdict == verdict)
    #expect(found.doubts == (verdict == .trusted ? [] : [.drifting]))
    #expect(found.objections == (verdict == .refused ? [.drifting] : []))
  }

  @Test func `a difference that the noise explains is no doubt`() throws {
    #expect(try estimate([800, 812, 824], bound: 3).verdict == .trusted)
  }

  @Test(arguments: [
    DelayEstimate.Doubt.faint, .disagreement, .ambiguous, .earlierArrival, .narrowBand,
  ])
  func `every other doubt refuses the result, once and with an explanation`(
    doubt: DelayEstimate.Doubt
  ) throws {
    let found = try estimate([812, 812, 812], doubts: [doubt])
    #expect(found.verdict == .refused && found.doubts == [doubt] && found.objections == [doubt])
    #expect(!doubt.explanation.isEmpty && doubt.explanation.last != ".")
    let both = try estimate([812, 812, 812], doubts: [.drifting, doubt])
    #expect(both.verdict == .refused && both.objections == [doubt])
  }

  @Test func `the polarity is that of most measurements`() throws {
    #expect(try estimate([812], gain: -0.5).isInverted)
    #expect(try !estimate([812], gain: 0.5).isInverted)
  }

  @Test func `the uncertainty of a single measurement is its own`() throws {
    var pair = try estimate([812]).pair
    pair.estimates[0].deviationFrames = 0.25
    let found = try #require(RoundTripEstimate(pair, sampleRate: 48000))
    #expect(found.spread.standardDeviation == 0.25)
    #expect(found.interval95.lowerBound < 812 && found.interval95.upperBound > 812)
  }

  @Test func `numbers of frames beyond ten seconds are not valid`() {
    #expect(StoredRoundTrip(roundTripFrames: 812).isValid)
    #expect(StoredRoundTrip(roundTripFrames: 1e7, externalFrames: -1e7).isValid)
    for frames in [-1, 1.1e7, .nan, .infinity] {
      #expect(!StoredRoundTrip(roundTripFrames: frames).isValid)
      let external = frames < 0 ? -1.1e7 : frames
      #expect(!StoredRoundTrip(roundTripFrames: 1, externalFrames: external).isValid)
    }
  }

  @Test func `a stored round trip whose parts are unknown is the same for every unit`() {
    let stored = StoredRoundTrip(roundTripFrames: 845)
    #expect(stored.frames(for: .nowhere) == 845)
    let late = StoredRoundTrip(roundTripFrames: 845, externalFrames: -1000, sampleRate: 48000)
    #expect(late.frames(for: .nowhere) == 0)
  }
}

extension DuplexConfiguration {
  /// The configuration of a unit of 48 kHz without devices.
  fileprivate static var nowhere: DuplexConfiguration {
    DuplexConfiguration(
      sampleRate: 48000, periodFrames: 256, headroomFrames: 256, capture: nil, playback: nil)
  }
}
