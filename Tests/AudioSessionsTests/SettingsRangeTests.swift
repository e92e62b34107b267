import AudioBasics
import AudioFiles
import Foundation
import Testing

@testable import AudioSessions

/// Tests of settings beyond their range: they are refused with a message or clamped to the nearest
/// value.
struct SettingsRangeTests {
  private static func plan() -> RecordingPlan {
    RecordingPlan(
      path: "/tmp/duplex-range-\(UUID().uuidString).wav", fileFormat: .wav, sampleFormat: .s16,
      sampleRate: 48000, channelCount: 2)
  }

  private func refusal(_ change: (inout RecordingPlan) -> Void) -> FileFailure? {
    var plan = Self.plan()
    change(&plan)
    defer { #expect(!SoundFileReader.exists(plan.path)) }
    do throws(FileFailure) {
      _ = try RecordingWriter(plan, ringFrames: 4800)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    SplitRule.frames(0), .frames(-1), .bytes(0), .bytes(.min), .seconds(0), .seconds(-1),
    .seconds(.nan),
  ])
  func `a split into files of no length leaves one file`(rule: SplitRule) throws {
    let rig = try RecordingRig { $0.split = rule }
    rig.record(1000)
    rig.finish()
    #expect(rig.writer.report.files.map(\.frames) == [1000])
  }

  @Test(arguments: [KeepRule.files(0), .files(-1), .bytes(-1), .seconds(-1), .seconds(.nan)])
  func `a rule that keeps no files is refused`(rule: KeepRule) {
    let found = refusal { $0.keep = rule }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message.contains("or more") == true)
  }

  @Test(arguments: [Double.nan, -Double.infinity, -1])
  func `a negative age of data that is not on the disk is refused`(seconds: Double) {
    let found = refusal { $0.syncSeconds = seconds }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message.contains("0 or more") == true)
  }

  @Test func `standard output has no files that are kept, and none for a command`() {
    for change in [{ $0.keep = .files(2) }, { $0.onFile = "true" }]
      as [(inout RecordingPlan) -> Void]
    {
      let found = refusal {
        $0.path = "-"
        change(&$0)
      }
      #expect(found?.kind == .invalidRequest)
      #expect(found?.message.contains("Standard output is not a file") == true)
    }
  }

  @Test func `an impossible number of channels is refused and named`() {
    let found = refusal { $0.channelCount = -1 }
    #expect(found?.kind == .invalidRequest)
    #expect(found?.message.contains("-1 channels") == true)
  }

  private static let pans: [(Float, Float)] = [
    (3, 1), (-3, -1), (.infinity, 1), (-.infinity, -1), (.nan, 0), (0.5, 0.5),
  ]

  @Test(arguments: pans)
  func `a pan out of range is limited to the side`(asked: Float, taken: Float) {
    var settings = TrackSettings()
    settings.pan = asked
    #expect(settings.pan == taken)
  }

  @Test(arguments: [0.2, 4.1, 100, -1, .nan, .infinity])
  func `a track at an unsupported speed is refused`(speed: Double) throws {
    let file = try CountedFile(frames: 1000)
    var settings = TrackSettings()
    settings.speed = speed
    #expect(throws: FileFailure.self) {
      try TrackReader(
        Decoding.decoder(forPath: file.path), sampleRate: 48000, channelCount: 2, settings: settings
      )
    }
  }

  @Test func `a decoder of an impossible rate is refused`() {
    #expect(throws: FileFailure.self) {
      try QueueItem(.once(ImpossibleRate(), settings: TrackSettings())).source(
        CancellableOpening(), sampleRate: 48000, channelCount: 2)
    }
  }

  private final class ImpossibleRate: PlainSoundDecoder {
    let name = "impossible"
    let sampleRate = Int.max
    let channelCount = 1
    let frameCount: Int? = 100
    let supportsSeeking = false
    let position = 0

    func read(
      into buffer: inout SampleBuffer, at target: Int, frames: Int
    ) throws(FileFailure) -> Int { 0 }

    func seek(toFrame frame: Int) throws(FileFailure) {}
  }
}
