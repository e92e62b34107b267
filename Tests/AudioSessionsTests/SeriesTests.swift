import AudioFiles
import Glibc
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests of recordings in several files.
@Suite struct SeriesTests {
  @Test(arguments: [1000, 1001, 4096, 30000])
  func `no frame is lost or repeated between files`(frames: Int) throws {
    let rig = try RecordingRig { $0.split = .frames(frames) }
    for count in [5000, 3, 9000, 12345] {
      rig.record(count)
      rig.save()
    }
    rig.finish()
    #expect(try rig.allNumbers() == Array(1...26348))
    let lengths = rig.writer.report.files.map(\.frames)
    #expect(lengths.dropLast().allSatisfy { $0 == frames } && lengths.reduce(0, +) == 26348)
    #expect(rig.writer.report.files.last?.frames != 0)
  }

  @Test(arguments: [(0.125, 1000), (0.12506, 1000), (0.12507, 1001), (1e-9, 1), (.infinity, 2500)])
  func `files split by their duration have the nearest number of frames`(
    seconds: Double, frames: Int
  ) throws {
    let rig = try RecordingRig { $0.split = .seconds(seconds) }
    let count = frames == 1 ? 5 : 2500
    rig.record(count)
    rig.finish()
    #expect(try rig.allNumbers() == Array(1...count))
    #expect(rig.writer.report.files.first?.frames == frames)
    #expect(rig.writer.report.files.count == (count + frames - 1) / frames)
  }

  @Test func `files split by size do not exceed it`() throws {
    let rig = try RecordingRig { $0.split = .bytes(20000) }
    rig.record(20000)
    rig.finish()
    #expect(try rig.allNumbers() == Array(1...20000))
    for file in rig.writer.report.files {
      #expect((FileStatus(of: file.path)?.byteCount ?? .max) <= 20000)
    }
    #expect(rig.writer.report.files.count == 6)
  }

  @Test func `a requested split is at its frame, or at once if its frame has passed`() throws {
    let rig = try RecordingRig()
    rig.writer.control.request(.split, at: 3000)
    rig.record(2000)
    rig.save()
    rig.record(2000)
    rig.save()
    rig.writer.control.request(.split, at: 100)
    rig.record(1000)
    rig.finish()
    #expect(rig.names == ["take-002.wav", "take-003.wav", "take.wav"])
    #expect(rig.writer.report.files.map(\.frames) == [3000, 1000, 1000])
    #expect(try rig.allNumbers() == Array(1...5000))
  }

  /// Plans a file for each segment of speech; returns the name of the first one.
  private func planSegments(_ plan: inout RecordingPlan) -> String {
    plan.leavesSilenceOut = true
    plan.split = .silence
    return plan.path.replacing("take.wav", with: "take-001.wav")
  }

  @Test func `a taken first name of segments is refused before the recording waits for speech`() {
    var taken = ""
    let folder = TemporaryFolder()
    let refused = #expect(throws: FileFailure.self) {
      _ = try RecordingRig(in: folder) { plan in
        taken = planSegments(&plan)
        try? TextFile.write("theirs", to: taken, overwrite: false)
      }
    }
    #expect(refused?.remedy == .overwrite)
    #expect(FileStatus(of: taken)?.byteCount == 6)
    #expect(folder.names == ["take-001.wav"])
  }

  @Test func `a first name of segments that is taken during the wait costs no frame`() throws {
    var first = ""
    let rig = try RecordingRig { first = planSegments(&$0) }
    #expect(rig.names == [])
    try TextFile.write("theirs", to: first, overwrite: false)
    rig.record(1000)
    rig.finish()
    #expect(rig.names == ["take-001-2.wav", "take-001.wav"])
    #expect(rig.writer.report.files.map(\.frames) == [1000])
    #expect(FileStatus(of: first)?.byteCount == 6)
  }

  @Test(arguments: [SplitRule.frames(10), .seconds(0.1), .bytes(1000)])
  func `a stream has one file, whatever the plan says about splits`(rule: SplitRule) {
    var plan = RecordingPlan(
      path: "-", fileFormat: .wav, sampleFormat: .s16, sampleRate: 8000, channelCount: 1)
    plan.split = rule
    var condition = SplitCondition(plan)
    condition.begin()
    #expect(condition.room == .max)
  }

  @Test func `a recording whose name the program chose gets the next free one if it is taken`()
    throws
  {
    let rig = try RecordingRig { plan in
      plan.takesFreeName = true
      try? TextFile.write("", to: plan.path, overwrite: false)
    }
    rig.record(1000)
    rig.finish()
    #expect(rig.names == ["take-2.wav", "take.wav"])
    #expect(rig.writer.report.files.map(\.path) == [rig.folder("take-2.wav")])
    #expect(try rig.allNumbers() == Array(1...1000))
  }

  @Test func `the file of the uncleaned audio keeps the name that the user chose`() throws {
    var plan = RecordingPlan(
      path: "note.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 1)
    plan.takesFreeName = true
    #expect(plan.raw == nil)
    plan.rawPath = "raw.wav"
    let raw = try #require(plan.raw)
    #expect(raw.path == "raw.wav" && !raw.takesFreeName)
  }

  /// The recording is in `format`, with `sample` samples from a device of 32-bit integers.
  @Test(arguments: [
    (FileFormat.wav, FileSampleFormat.s24, "raw.flac", FileFormat.flac, FileSampleFormat.s24),
    (.flac, .s24, "raw.WAV", .wav, .s24), (.mp3, .float, "raw.wav", .wav, .s24),
    (.wav, .s16, "raw.flac", .flac, .s16), (.wav, .float, "raw.flac", .flac, .s24),
    (.wav, .s32, "raw.caf", .caf, .s32), (.wav, .s24, "raw.opus", .opus, .float),
    (.flac, .s16, "raw", .flac, .s16), (.flac, .s24, "raw.xyz", .flac, .s24),
  ])
  func `the extension of the unprocessed recording is its format`(
    format: FileFormat, sample: FileSampleFormat, path: String, wanted: FileFormat,
    wantedSample: FileSampleFormat
  ) throws {
    var plan = RecordingPlan(
      path: "note", fileFormat: format, sampleFormat: sample, sampleRate: 48000, channelCount: 1)
    plan.capturedFormat = .s32LE
    plan.rawPath = path
    let raw = try #require(plan.raw)
    #expect(raw.fileFormat == wanted && raw.sampleFormat == wantedSample)
  }

  @Test func `a plan whose unprocessed recording no file can hold is refused`() {
    let plan = RecordingPlan(
      path: "note.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 3)
    #expect(throws: FileFailure.self) {
      _ = try RecordingWriter(plan, ringFrames: 4800, rawPath: "raw.mp3")
    }
  }

  @Test func `a file that was renamed before a split is reported with its new name`() throws {
    let rig = try RecordingRig { $0.split = .frames(3000) }
    rig.record(2000)
    rig.save()
    #expect(rename(rig.folder("take-001.wav"), rig.folder("kept.wav")) == 0)
    rig.record(2000)
    rig.finish()
    #expect(rig.writer.report.files.map(\.path).first == rig.folder("kept.wav"))
    #expect(rig.names == ["kept.wav", "take-002.wav"])
  }

  @Test func `a recording whose folder was renamed is reported with its new path`() throws {
    let rig = try RecordingRig(name: "inner/take.wav", folders: ["inner"])
    rig.record(2000)
    rig.save()
    #expect(rename(rig.folder("inner"), rig.folder("outer")) == 0)
    rig.record(1000)
    rig.finish()
    #expect(rig.writer.report.files.map(\.path) == [rig.folder("outer/take.wav")])
    #expect(try SoundFileReader(path: rig.folder("outer/take.wav")).frameCount == 3000)
  }

  @Test(arguments: ["take.wav", "take-%s.wav"])
  func `the files after a rename of their folder go to where it is now, which is reported once`(
    name: String
  ) throws {
    let rig = try RecordingRig(name: "inner/" + name, folders: ["inner"]) {
      $0.split = .frames(8000)
      $0.keep = .files(4)
    }
    let (old, new) = (rig.folder("inner"), rig.folder("outer"))
    rig.record(12000)
    rig.save()
    #expect(rename(old, new) == 0)
    for _ in 0..<4 {
      rig.record(8000)
      rig.save()
    }
    rig.finish()
    let paths = rig.writer.report.files.map(\.path)
    #expect(paths.count == 4)
    #expect(paths.allSatisfy { $0.hasPrefix(new + "/take-") })
    #expect(try rig.allNumbers() == Array(16001...44000))
    let told = rig.events.compactMap { event -> [String]? in
      switch event {
      case .renamed(let old, let new, let isFolder): isFolder ? [old, new] : ["a file", old, new]
      case .warning(let failure): ["a warning", failure.message]
      default: nil
      }
    }
    #expect(told == [[old, new]])
    for path in paths { unlink(path) }
    #expect(rmdir(new) == 0)
  }

  @Test func `a folder that is renamed twice is followed twice`() throws {
    let rig = try RecordingRig(name: "inner/take.wav", folders: ["inner"]) {
      $0.split = .frames(3000)
    }
    for name in ["one", "two", "inner"] {
      rig.record(3000)
      rig.save()
      let present = ["inner", "one", "two"].first { FileIdentity(of: rig.folder($0)) != nil }
      #expect(rename(rig.folder(present ?? ""), rig.folder(name)) == 0)
    }
    rig.record(1000)
    rig.finish()
    let expected = (1...4).map { rig.folder("inner/take-00\($0).wav") }
    #expect(rig.writer.report.files.map(\.path) == expected)
    #expect(try rig.allNumbers() == Array(1...10000))
  }

  @Test func `a file that is moved away takes the next ones nowhere`() throws {
    let rig = try RecordingRig(folders: ["other"]) { $0.split = .frames(3000) }
    rig.record(2000)
    rig.save()
    #expect(rename(rig.folder("take-001.wav"), rig.folder("other/take-001.wav")) == 0)
    rig.record(2000)
    rig.finish()
    #expect(rig.names == ["other", "take-002.wav"])
  }

  @Test func `a file that was deleted before a split is written again`() throws {
    let rig = try RecordingRig { $0.split = .frames(3000) }
    rig.record(2000)
    rig.save()
    #expect(unlink(rig.folder("take-001.wav")) == 0)
    rig.record(2000)
    rig.finish()
    #expect(rig.names == ["take-001.wav", "take-002.wav"])
    #expect(try rig.allNumbers() == Array(1...4000))
  }

  /// Returns a recording of 2000 frames whose file was replaced by a link that leads nowhere.
  private func rigWithLink() throws -> RecordingRig {
    let rig = try RecordingRig { $0.split = .frames(3000) }
    rig.record(2000)
    rig.save()
    #expect(unlink(rig.folder("take-001.wav")) == 0)
    #expect(symlink("missing/file.wav", rig.folder("take-001.wav")) == 0)
    return rig
  }

  @Test func `a deleted file that cannot be written again at a split grows until it can be`()
    throws
  {
    let rig = try rigWithLink()
    rig.record(2000)
    rig.save()
    #expect(unlink(rig.folder("take-001.wav")) == 0)
    rig.record(3000)
    rig.finish()
    #expect(rig.names == ["take-001.wav", "take-002.wav"])
    #expect(rig.writer.report.files.map(\.frames) == [6000, 1000])
    #expect(try rig.allNumbers() == Array(1...7000))
    let warnings = rig.events.compactMap {
      if case .warning(let failure) = $0 { failure.message } else { nil }
    }
    #expect(warnings.first?.contains("was deleted while it is recorded") == true)
    #expect(warnings.last?.contains("the recording is there again") == true)
  }

  @Test func `a deleted file whose name is a link that leads nowhere gets another name at the end`()
    throws
  {
    let rig = try rigWithLink()
    rig.record(500)
    rig.finish()
    #expect(rig.names == ["take-001-2.wav", "take-001.wav"])
    #expect(try rig.allNumbers() == Array(1...2500))
  }

  @Test(arguments: [false, true])
  func `a recording whose folder was replaced by a file is saved in the folder above`(
    isNameTaken: Bool
  ) throws {
    let rig = try RecordingRig(name: "gone/take.wav", folders: ["gone"])
    rig.record(2000)
    rig.save()
    #expect(unlink(rig.folder("gone/take.wav")) == 0 && rmdir(rig.folder("gone")) == 0)
    try save("a file", to: rig.folder("gone"))
    if isNameTaken { try save("another file", to: rig.folder("take.wav")) }
    rig.record(500)
    rig.save()
    rig.finish()
    let name = isNameTaken ? "take-2.wav" : "take.wav"
    #expect(rig.names == (isNameTaken ? ["gone", name, "take.wav"] : ["gone", name]))
    #expect(rig.writer.report.failure == nil)
    #expect(rig.writer.report.files.map(\.path) == [rig.folder(name)])
    #expect(try rig.allNumbers() == Array(1...2500))
    let warnings = rig.events.compactMap {
      if case .warning(let failure) = $0 { failure.message } else { nil }
    }
    #expect(warnings.last?.hasSuffix("the recording is in \(rig.folder(name)) now.") == true)
  }

  private func save(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }

  @Test func `names that exist get a number, and nothing is overwritten`() throws {
    let rig = try RecordingRig(name: "n-%H.wav") { $0.split = .frames(1000) }
    rig.record(2500)
    rig.finish()
    #expect(rig.names.count == 3)
    #expect(
      rig.names.contains { $0.hasSuffix("-2.wav") } && rig.names.contains { $0.hasSuffix("-3.wav") }
    )
    #expect(try rig.allNumbers() == Array(1...2500))
  }

  @Test func `no file gets the name of the unprocessed recording`() throws {
    let rig = try RecordingRig(rawName: "take-002.wav") {
      $0.split = .frames(1000)
      $0.overwrite = true
    }
    for _ in 0..<3 {
      rig.record(1000)
      rig.save()
    }
    rig.finish()
    #expect(rig.names == ["take-001.wav", "take-002-2.wav", "take-002.wav", "take-003.wav"])
    #expect(try rig.numbers(in: rig.folder("take-002.wav")) == Array(1...3000))
  }

  @Test func `no name is given twice, however many exist`() {
    var names = SeriesNames("take.wav", isSeries: false)
    var given: Set<String> = ["take.wav"]
    for number in 2...20_000 {
      let name = names.free("take.wav") { given.contains($0) }
      #expect(name == "take-\(number).wav")
      given.insert(name)
    }
    #expect(names.free("other.wav") { given.contains($0) } == "other.wav")
  }

  @Test func `a name contains the time at which its first frame was captured`() throws {
    let rig = try RecordingRig(name: "%s.wav") { $0.split = .frames(16000) }
    rig.record(40000)
    rig.finish()
    #expect(rig.names == ["0.wav", "2.wav", "4.wav"])
  }

  @Test(arguments: [
    (KeepRule.files(2), 2), (.bytes(3 * 8192), 3), (.bytes(100), 1), (.seconds(0.3), 3),
    (.files(100), 8),
  ])
  func `a rolling recording keeps its newest files`(rule: KeepRule, count: Int) throws {
    let rig = try RecordingRig {
      $0.split = .frames(1000)
      $0.keep = rule
    }
    for _ in 0..<8 {
      rig.record(1000)
      rig.save()
      // The growing file counts as one of them.
      if case .files(let maximum) = rule { #expect(rig.names.count <= maximum) }
    }
    rig.finish()
    #expect(rig.names.count == count)
    #expect(rig.writer.report.files.map(\.path).last?.hasSuffix("take-008.wav") == true)
    #expect(try rig.allNumbers() == Array((8 - count) * 1000 + 1...8000))
  }

  @Test func `a command runs for each file in order, and its failure does not end the recording`()
    throws
  {
    let rig = try RecordingRig {
      $0.split = .frames(1000)
      $0.onFile = "echo ${1##*/} ${DUPLEX_FILE##*/} >>${1%/*}/log; [ ${1##*-} != 002.wav ]"
    }
    rig.record(2500)
    rig.finish()
    let log = try TextFile.read(rig.folder("log"))
    #expect(
      log.split(separator: "\n").map { $0.prefix(12) } == [
        "take-001.wav", "take-002.wav", "take-003.wav",
      ])
    #expect(rig.writer.report.failure == nil)
    let warnings = rig.events.filter { if case .warning = $0 { true } else { false } }
    #expect(warnings.count == 1)
  }

  @Test func `a folder that becomes read-only does not end a recording`() throws {
    let rig = try RecordingRig(name: "sub-%s.wav") { $0.split = .frames(8000) }
    rig.record(8000)
    rig.save()
    // The next file cannot be created, so the current file continues.
    chmod(rig.folder.path, 0o555)
    defer { chmod(rig.folder.path, 0o777) }
    rig.record(8000)
    rig.finish()
    #expect(rig.writer.report.failure == nil)
    #expect(rig.writer.report.frames == 16000)
  }
}
