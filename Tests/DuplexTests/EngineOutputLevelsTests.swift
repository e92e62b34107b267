import Duplex
import Foundation
import Testing

/// Tests of the levels of the output in the status of an engine, in virtual time.
@Suite struct EngineOutputLevelsTests {
  private var measuring: DuplexEngine.Settings {
    var settings = DuplexEngine.Settings()
    settings.measuresOutputLevels = true
    settings.limitDBFS = nil
    return settings
  }

  /// Runs an engine that plays a constant sample of `level` in both channels for 0.5 s.
  private func status(
    playing level: Float, _ settings: DuplexEngine.Settings, gain: Gain = .unity
  ) async throws -> EngineStatus {
    let engine = DuplexEngine(input: nil, output: "sim:clock=free", settings)
    engine.insert(Constant(level: level))
    engine.outputGain = gain
    try await engine.run(seconds: 0.5)
    return engine.status
  }

  @Test func `the output is measured after its gain`() async throws {
    let status = try await status(playing: 0.5, measuring, gain: Gain(decibels: -6))
    let levels = try #require(status.outputLevels)
    let expected = 20 * log10(0.5) - 6
    #expect(levels.peakDBFS.count == 2)
    for channel in 0..<2 {
      #expect(abs(levels.peakDBFS[channel] - expected) < 0.01)
      #expect(abs(levels.rmsDBFS[channel] - expected) < 0.01)
    }
    #expect(status.levels == nil && status.outputClippedFrames == 0)
  }

  @Test func `the true peak and the clipped frames are those of the whole run`() async throws {
    let loud = try await status(playing: 2, measuring)
    #expect(loud.outputClippedFrames == 24000)
    #expect(try #require(loud.outputTruePeakDBTP) >= 20 * log10(2) - 0.01)
    let silent = try await status(playing: 0, measuring)
    #expect(silent.outputTruePeakDBTP == -200 && silent.outputClippedFrames == 0)
  }

  @Test func `the true peak and the clipped frames continue after a change of device`()
    async throws
  {
    let engine = DuplexEngine(
      DeviceSelection(input: nil, output: "sim:clock=free"), measuring)
    let loud = engine.insert(Constant(level: 2))
    try await engine.start()
    await engine.passes(frames: 24000)
    engine.remove(loud)
    await engine.passes(frames: 9600)
    let clipped = engine.status.outputClippedFrames
    try await engine.use(DeviceSelection(input: nil, output: "sim:clock=free,channels=1"))
    await engine.passes(frames: 9600)
    let status = engine.status
    await engine.stop()
    #expect(clipped >= 24000 && status.outputClippedFrames == clipped)
    #expect(try #require(status.outputTruePeakDBTP) >= 6)
    #expect(status.outputLevels?.peakDBFS.max() == -200)
  }

  @Test func `an output that is not measured, and a missing one, have no levels`() async throws {
    let unmeasured = try await status(playing: 2, DuplexEngine.Settings())
    #expect(unmeasured.outputLevels == nil && unmeasured.outputTruePeakDBTP == nil)
    #expect(unmeasured.outputClippedFrames == 0)
    let engine = DuplexEngine(input: "sim:clock=free,noise=-20", output: nil, measuring)
    try await engine.run(seconds: 0.5)
    #expect(engine.status.outputLevels == nil && engine.status.outputTruePeakDBTP == nil)
    #expect(engine.status.levels != nil)
  }
}

/// An effect that plays a constant.
private struct Constant: AudioEffect {
  let level: Float

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    for sample in 0..<frames.sampleCount { frames[sample] = level }
  }
}
