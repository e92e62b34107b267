import AudioBasics
import AudioFiles
import Glibc
import Testing

@testable import AudioSessions

/// Tests of the limits on a recording's files: the age up to which they are kept.
@Suite struct FileLimitTests {
  private static func plan(_ format: FileFormat, folder: String = "") -> RecordingPlan {
    RecordingPlan(
      path: "\(folder)/take.\(format.name)", fileFormat: format, sampleFormat: .s16,
      sampleRate: 8000, channelCount: 1)
  }

  /// Writes six files of a second each, the first frames of which were captured at `wall` seconds
  /// since 1970, and returns the numbers of those that are kept.
  private func kept(_ rule: KeepRule, wall: (Int) -> Int) throws -> [Int] {
    let folder = "/tmp/duplex-limits-\(UInt64.random(in: 0 ... .max))"
    mkdir(folder, 0o777)
    var plan = Self.plan(.wav, folder: folder)
    (plan.split, plan.keep) = (.frames(8000), rule)
    var series = try FileSeries(plan, events: RecordingEvents())
    let second = SampleBuffer(frameCount: 8000, channelCount: 1)
    for index in 0..<6 {
      try series.write(
        second, Span(), frames: 8000,
        start: CaptureTime(
          wall: UInt64(wall(index)) * 1_000_000_000, device: index * 1_000_000_000))
      series.poll(at: (index + 1) * 1_000_000_000)
    }
    try series.finish(.nothing)
    series.poll(at: 6_000_000_000)
    let names = series.paths.map { FileName.last(of: $0) }
    for path in series.paths { unlink(path) }
    #expect(rmdir(folder) == 0)
    return names.compactMap { Int($0.dropFirst("take-".count).prefix(3)) }
  }

  @Test(
    arguments: [
      // Set ahead by a year, as on a machine without a battery that finds the network; set back; set
      // again and again.
      { $0 < 3 ? $0 : 31_536_000 + $0 }, { $0 < 3 ? 31_536_000 + $0 : $0 },
      { $0 % 2 * 31_536_000 + $0 }, { $0 },
    ] as [@Sendable (Int) -> Int])
  func `a file does not become older if the wall clock is set`(
    wall: @Sendable (Int) -> Int
  ) throws {
    #expect(try kept(.seconds(2), wall: wall) == [4, 5, 6])
    #expect(try kept(.seconds(60), wall: wall) == [1, 2, 3, 4, 5, 6])
  }
}
