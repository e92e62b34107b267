import AudioBasics
import AudioDevices
import AudioFiles
import Glibc
import RealtimeAudio
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests that a 16-bit recording is the same with and without level measurement.
@Suite struct LevelsOffTests {
  /// The settings of a recording.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var fileFormat = FileFormat.wav
    var ringFrames = 3000
    var split: SplitRule?
    var gate: @Sendable () -> any RecordingGate = { WindowGate() }
    /// The captured frames that are in the files.
    var kept = 0..<9000
  }

  static let cases = [
    Case(testDescription: "WAV"), Case(testDescription: "RF64", fileFormat: .rf64),
    Case(testDescription: "FLAC", fileFormat: .flac),
    Case(testDescription: "raw", fileFormat: .raw),
    Case(testDescription: "a ring of odd length", ringFrames: 1001),
    Case(testDescription: "split", split: .frames(800)),
    Case(
      testDescription: "a window", gate: { WindowGate(PunchWindow(firstFrame: 100, frames: 5003)) },
      kept: 100..<5103),
  ]

  @Test(arguments: cases, [true, false])
  func `the 16-bit samples of the ring are those of the file`(_ row: Case, measuresLevels: Bool)
    throws
  {
    let report = try Self.record(row, measuresLevels: measuresLevels) { frame, channel in
      Self.sample(frame, channel)
    } reading: { path in
      var samples: [Float] = []
      if row.fileFormat == .raw {
        for word in try Self.words(path) { samples.append(Float(word) / 32768) }
        return samples
      }
      var file = try SoundFileReader(path: path)
      var buffer = SampleBuffer(frameCount: 1000, channelCount: 2)
      while true {
        let count = try file.read(into: &buffer)
        guard count > 0 else { return samples }
        for index in 0..<2 * count { samples.append(buffer[index]) }
      }
    }
    #expect(report.frames == row.kept.count)
    #expect(report.isSilent == false)
    #expect(report.gaps.map(\.frames) == [50])
    #expect((report.levels == .nothing) == !measuresLevels)
    if measuresLevels { #expect(report.levels.samplePeaks.allSatisfy { $0 > 0.9 }) }
  }

  @Test(arguments: [true, false], [FileSampleFormat.s16, .s24])
  func `only a recording of silence is reported as silent`(
    measuresLevels: Bool, sampleFormat: FileSampleFormat
  ) throws {
    for sound in [0, 0.25] as [Float] {
      let row = Case(testDescription: "")
      let report = try Self.record(row, sampleFormat, measuresLevels: measuresLevels) { frame, _ in
        frame == 8999 ? sound : 0
      } reading: { _ in
        nil
      }
      #expect(report.isSilent == (sound == 0))
    }
  }

  @Test func `a recording that never began is not reported as silent`() throws {
    let row = Case(testDescription: "", gate: { WindowGate(preRollFrames: 100) }, kept: 0..<0)
    let report = try Self.record(row, measuresLevels: false) { _, _ in
      0
    } reading: { _ in
      nil
    }
    #expect(report.frames == 0 && !report.isSilent)
  }

  @Test func `levels that are not measured are not reported when they are requested`()
    throws
  {
    let folder = TemporaryFolder()
    var plan = Self.plan(folder("take.wav"), .wav, .s16)
    plan.measuresLevels = false
    let writer = try RecordingWriter(plan, ringFrames: 24000)
    writer.events.requestState()
    #expect(writer.stepMilliseconds == 50)
    #expect(writer.events.state.levels == .nothing)
  }

  /// Returns the sample of a frame and a channel: a multiple of 2^-15 that repeats after more
  /// frames than the ring buffer holds.
  private static func sample(_ frame: Int, _ channel: Int) -> Float {
    Float((frame &* 7919 &+ channel &* 104_729) % 65536 - 32768) / 32768
  }

  private static func plan(
    _ path: String, _ fileFormat: FileFormat, _ sampleFormat: FileSampleFormat
  ) -> RecordingPlan {
    var plan = RecordingPlan(
      path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: 48000,
      channelCount: 2)
    plan.capturedFormat = .s16LE
    plan.isVirtual = true
    return plan
  }

  /// Records 9000 frames in pieces of 700, of which the frames 4000 to 4049 are lost, and compares
  /// the files with them if `reading` returns their samples.
  private static func record(
    _ row: Case, _ sampleFormat: FileSampleFormat = .s16, measuresLevels: Bool,
    _ sample: (Int, Int) -> Float, reading: (String) throws -> [Float]?
  ) throws -> RecordingReport {
    let folder = TemporaryFolder()
    var plan = plan(folder("take.wav"), row.fileFormat, sampleFormat)
    plan.split = row.split
    plan.measuresLevels = measuresLevels
    let writer = try RecordingWriter(plan, ringFrames: row.ringFrames, gate: row.gate())
    var recorder = writer.takeRecorder()
    var frame = 0
    while frame < 9000 {
      let lost = frame == 4000 ? 50 : 0
      frame += lost
      let count = min(frame < 4000 ? 4000 - frame : 9000 - frame, 700)
      var buffer = SampleBuffer(frameCount: count, channelCount: 2)
      for index in 0..<2 * count { buffer[index] = sample(frame + index / 2, index % 2) }
      recorder?.record(
        buffer, frames: count, at: CycleTime(frame: frame, nanoseconds: 0, lostFrames: lost))
      frame += count
      _ = writer.step()
    }
    recorder?.finish()
    while writer.step() { HostClock.pause(milliseconds: 1) }
    let report = writer.report
    var found: [Float] = []
    for file in report.files {
      guard let samples = try reading(file.path) else { return report }
      found += samples
    }
    let wanted = row.kept.flatMap { frame in
      (0..<2).map { (4000..<4050).contains(frame) ? 0 : sample(frame, $0) }
    }
    #expect(found == wanted)
    return report
  }

  private static func words(_ path: String) throws -> [Int16] {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var words = [Int16](repeating: 0, count: 20000)
    let count = fread(&words, 2, words.count, file)
    return Array(words.prefix(count))
  }
}
