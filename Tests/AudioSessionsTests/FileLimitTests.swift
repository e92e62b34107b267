import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests of the limits on a recording's files: the age up to which they are kept, and the size up
/// to which they grow.
@Suite struct FileLimitTests {
  private static func plan(_ format: FileFormat, folder: String = "") -> RecordingPlan {
    RecordingPlan(
      path: "\(folder)/take.\(format.name)", fileFormat: format, sampleFormat: .s16,
      sampleRate: 8000, channelCount: 1)
  }

  /// Writes six files of a second each, the first frames of which were captured at `wall` seconds
  /// since 1970, and returns the numbers of those that are kept.
  private func kept(_ rule: KeepRule, wall: (Int) -> Int) throws -> [Int] {
    let folder = TemporaryFolder()
    var plan = Self.plan(.wav, folder: folder.path)
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
    #expect(folder.names == names.map(String.init))
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

  private func expectDue(_ condition: inout SplitCondition, _ isDue: Bool) {
    let found = condition.takeDue()
    #expect(found == isDue)
  }

  @Test func `a file of samples is full when its bytes are`() {
    var condition = SplitCondition(Self.plan(.aiff))
    condition.begin(upTo: 4_294_901_759)
    #expect(condition.room == 2_147_450_879)
    condition.note(2_147_450_879, byteCount: nil)
    expectDue(&condition, true)
    // The next file cannot be created: this one continues until it is refused.
    condition.begin(at: 4_294_901_812)
    #expect(condition.room == .max)
    expectDue(&condition, false)
    condition.begin(upTo: nil)
    #expect(condition.room == .max)
  }

  @Test func `an encoded file is full when its bytes are`() {
    var condition = SplitCondition(Self.plan(.flac))
    condition.begin(upTo: 100_000)
    #expect(condition.countsBytes && condition.room == .max)
    condition.note(4096, byteCount: 99_999)
    expectDue(&condition, false)
    condition.note(4096, byteCount: 100_000)
    expectDue(&condition, true)
    condition.begin(at: 100_000)
    condition.note(4096, byteCount: 108_000)
    expectDue(&condition, false)
  }

  @Test func `a limit of the disk and one of the user both hold`() {
    var plan = Self.plan(.wav)
    plan.split = .frames(1000)
    var condition = SplitCondition(plan)
    condition.begin(upTo: 4000)
    #expect(condition.room == 1000)
    condition.begin(upTo: 400)
    #expect(condition.room == 200)
    plan.split = .bytes(1 << 20)
    plan.fileFormat = .flac
    condition = SplitCondition(plan)
    condition.begin(upTo: 100_000)
    condition.note(4096, byteCount: 100_000)
    expectDue(&condition, true)
  }

  @Test func `the markers of a file take room from its samples`() {
    var condition = SplitCondition(Self.plan(.wav))
    condition.begin(upTo: 4000)
    condition.reserve(41)
    #expect(condition.room == 1979)
    condition.note(1979, byteCount: nil)
    expectDue(&condition, true)
    // A marker must not keep the frame that it marks out of the file.
    condition.begin(upTo: 4000)
    condition.reserve(8000)
    #expect(condition.room == 1)
    condition.begin(upTo: nil)
    condition.reserve(41)
    #expect(condition.room == .max)
  }

  @Test func `the markers of a file do not move the end that the user asked for`() {
    var plan = Self.plan(.wav)
    plan.split = .frames(1000)
    var condition = SplitCondition(plan)
    condition.begin(upTo: 4000)
    condition.reserve(1998)
    #expect(condition.room == 1000)
    condition.note(400, byteCount: nil)
    condition.reserve(4)
    #expect(condition.room == 599)
    condition.note(599, byteCount: nil)
    expectDue(&condition, true)
  }

  /// Records two series by turns, as if the user split each after every second, and returns the
  /// names of their files in order.
  private func names(_ first: RecordingPlan, _ second: RecordingPlan) throws -> [[String]] {
    let (events, written) = (RecordingEvents(), WrittenFiles())
    var one = try FileSeries(first, events: events, written: written)
    var other = try FileSeries(second, events: events, written: written)
    let sound = SampleBuffer(frameCount: 8000, channelCount: 1)
    for second in 0..<3 {
      let start = CaptureTime(wall: UInt64(second) * 1_000_000_000, device: second * 1_000_000_000)
      try one.write(sound, Span(), frames: 8000, start: start)
      try other.write(sound, Span(), frames: 8000, start: start)
      one.split()
      other.split()
    }
    try one.finish(.nothing)
    try other.finish(.nothing)
    let paths = [one.paths, other.paths]
    let lengths = try paths.joined().map { try SoundFileReader(path: $0).frameCount }
    #expect(lengths == Array(repeating: 8000, count: 6))
    let splits = events.take().filter { if case .split = $0 { true } else { false } }.count
    #expect(splits == 2)
    return paths.map { $0.map { String(FileName.last(of: $0)) } }
  }

  @Test(arguments: [nil, SplitRule.frames(8000)])
  func `two series of a recording overwrite no file of each other`(rule: SplitRule?) throws {
    let folder = TemporaryFolder()
    var plan = Self.plan(.wav, folder: folder.path)
    (plan.overwrite, plan.split) = (true, rule)
    plan.rawPath = folder("take-002.wav")
    let raw = try #require(plan.raw)
    let found = try names(plan, raw)
    #expect(folder.names == found.joined().sorted())
    #expect(Set(found.joined()).count == 6)
    #expect(found[1][0] == "take-002.wav")
  }

  @Test(arguments: [nil, SplitRule.frames(8000)])
  func `only a series that was asked for replaces its later files`(rule: SplitRule?) throws {
    let rig = try RecordingRig { plan in
      (plan.overwrite, plan.split) = (true, rule)
      try? TextFile.write("mine", to: plan.path, overwrite: false)
      let folder = FileName.folder(of: plan.path)
      try? TextFile.write("mine", to: FileName.join(folder, "take-002.wav"), overwrite: false)
    }
    rig.record(8000)
    rig.save()
    rig.writer.control.request(.split, at: 8000)
    rig.record(8000)
    rig.finish()
    #expect(
      rig.writer.report.files.map { FileName.last(of: $0.path) }
        == (rule == nil
          ? ["take.wav", "take-002-2.wav"] : ["take-001.wav", "take-002.wav"]))
  }

  @Test func `a file of which the disk refuses more is full, once`() {
    var condition = SplitCondition(Self.plan(.wav))
    condition.begin(upTo: nil)
    let size = 5 << 20
    let isContinued = [condition.noteRefusal(at: size), condition.noteRefusal(at: size)]
    // The second time, the next file could not be created.
    #expect(isContinued == [true, false])
    expectDue(&condition, true)
    #expect(condition.refusedByteCount == size)
    condition.begin(upTo: nil)
    let isEmpty = condition.noteRefusal(at: 2 << 20)
    #expect(!isEmpty)
    let later = condition.noteRefusal(at: 6 << 20)
    #expect(later && condition.refusedByteCount == size)
    // The limit was known, and the next file could not be created there.
    condition.begin(upTo: size)
    condition.begin(at: size)
    let isTriedAgain = condition.noteRefusal(at: size + 65536)
    #expect(!isTriedAgain)
    var plan = Self.plan(.wav)
    plan.continuesInNextFile = false
    condition = SplitCondition(plan)
    let isOne = !condition.noteRefusal(at: size)
    #expect(isOne)
  }

  @Test func `one file is one file`() {
    var plan = Self.plan(.wav)
    plan.continuesInNextFile = false
    var condition = SplitCondition(plan)
    condition.begin(upTo: 4000)
    #expect(condition.room == .max)
    plan = Self.plan(.wav)
    plan.path = "-"
    condition = SplitCondition(plan)
    condition.begin(upTo: 4000)
    #expect(condition.room == .max)
  }

  @Test(
    arguments: [(.aiff, Int(UInt32.max) - 65536), (.wav, nil), (.flac, nil)]
      as [(FileFormat, Int?)])
  func `only AIFF has a limit of its own`(format: FileFormat, limit: Int?) throws {
    let folder = TemporaryFolder()
    let writer = try SoundFileWriter(
      path: folder("limit.\(format.name)"), fileFormat: format, sampleFormat: .s16,
      sampleRate: 8000, channelCount: 1,
      overwrite: false)
    let found = writer.soundByteCountLimit
    #expect(found == limit)
  }
}
