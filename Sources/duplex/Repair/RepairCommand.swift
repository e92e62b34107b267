import ArgumentParser
import AudioBasics
import AudioFiles

/// The command `duplex repair`.
struct RepairCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Repair sound files with a wrong header or an incomplete end.",
    discussion: """
      For files after a crash or a power cut: WAV, RF64, Wave64, CAF, AIFF, FLAC, Ogg Vorbis and Opus. The \
      repaired copy is NAME-repaired.EXT in the same folder. The file itself is changed only with \
      --in-place. An intact file is not changed.

      For a WAV file whose header was overwritten with zeros, give --rate, --channels and --sample-format.
      """)

  @Flag(help: "Repair the file itself: only the bytes that must change are written.")
  var inPlace = false

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: .init("Path of the repaired copy of one FILE.", valueName: "out"))
  var output: String?

  @Flag(help: "Replace the repaired copy if it exists.")
  var overwrite = false

  @Option(
    name: [.customShort("r"), .long],
    help: .init("Sample rate of a file without a header, in Hz.", valueName: "hz"))
  var rate: RateOption?

  @Option(
    name: [.customShort("c"), .long],
    help: .init("Channels of a file without a header.", valueName: "n"))
  var channels: Int?

  @Option(
    help: .init(
      "Sample format of a file without a header: \(FileSampleFormat.allCases.map(\.name).alternatives).",
      valueName: "name"))
  var sampleFormat: FileSampleFormat?

  @Flag(help: "Print JSON events, one per line, and nothing else on standard output.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Print errors only.")
  var quiet = false

  @Argument(help: .init("Files to repair.", valueName: "file"))
  var files: [String]

  var outputMode: OutputMode { OutputMode(json: json, quiet: quiet) }

  static let completeWords = ["x.wav", "--rate=48000", "--channels=2", "--sample-format=s16"]

  func validate() throws {
    try require(
      output == nil || files.count == 1, "-o is the path of one copy: repair one file at a time.")
    try require(output != "", "-o needs the path of the copy, and was given an empty name.")
    try require(
      output != "-", "-o cannot be standard output: parts of a copy are written last. Name a file.")
    try require(
      !files.contains("-"),
      "Standard input cannot be repaired, because parts of a file are read more than once. "
        + "Save it to a file; a file of the name - is ./-.")
    try require(output == nil || !inPlace, "--in-place and -o cannot be used together.")
    let given = [rate != nil, channels != nil, sampleFormat != nil]
    try require(
      Set(given).count == 1, "--rate, --channels and --sample-format must be given together.")
  }

  func perform() throws -> ExitStatus { try RepairRun(self).run() }
}

/// One run of the command: repairs one file after another and prints the results.
struct RepairRun {
  private let command: RepairCommand
  /// The files, each of them once.
  private let files: [String]
  /// The path of the copy of each file without --output.
  private let copies: [String]
  private let lostHeader: LostHeader?

  init(_ command: RepairCommand) throws {
    self.command = command
    files = Self.withoutRepetitions(command.files, inPlace: command.inPlace)
    copies = Self.copyPaths(of: files, sparingInputs: command.overwrite)
    if let rate = command.rate, let channels = command.channels,
      let sampleFormat = command.sampleFormat
    {
      lostHeader = try LostHeader(
        sampleRate: rate.hertz, channelCount: channels, sampleFormat: sampleFormat)
    } else {
      lostHeader = nil
    }
  }

  /// A name in a folder. A link is another name than its file.
  private struct NamedPlace: Hashable {
    let folder: FileLocation
    let name: [UInt8]

    init(_ path: String) {
      folder = FileLocation(of: FileName.folder(of: path))
      name = Array(FileName.last(of: path).utf8)
    }
  }

  /// Returns the path of the copy of each file. The copies have different names, although names of
  /// the greatest length may differ only in the end that is cut off, and those of no input with
  /// `sparingInputs`: a copy would replace a file that is not examined yet.
  private static func copyPaths(of files: [String], sparingInputs: Bool) -> [String] {
    var places = sparingInputs ? Set(files.map { NamedPlace($0) }) : []
    // The count of files with the same shortened name, so that many of them take little time.
    var counts: [NamedPlace: Int] = [:]
    return files.map { file in
      var path = FileName.insert("-repaired", into: file)
      let first = NamedPlace(path)
      while !places.insert(NamedPlace(path)).inserted {
        let number = counts[first, default: 1] + 1
        counts[first] = number
        path = FileName.insert("-repaired-\(number)", into: file)
      }
      return path
    }
  }

  /// Returns `files` without those that are named again, and reports these. Two links to one file
  /// are different unless it is repaired in place: each has a copy of its own.
  private static func withoutRepetitions(_ files: [String], inPlace: Bool) -> [String] {
    var (locations, names) = (Set<FileLocation>(), Set<NamedPlace>())
    return files.filter { file in
      let isNew =
        inPlace
        ? locations.insert(FileLocation(of: file)).inserted
        : names.insert(NamedPlace(file)).inserted
      if !isNew {
        inform("namedTwice", "\(FileName.withoutUser(file)) is named twice, and is examined once.")
      }
      return isNew
    }
  }

  /// Repairs each file. A file that cannot be repaired does not stop the run.
  func run() -> ExitStatus {
    var status = ExitStatus.done
    var results: [RepairResult] = []
    let byteCounts = files.map { max(1, FileStatus(of: $0)?.byteCount ?? 0) }
    let allBytes = Double(byteCounts.reduce(0, +))
    var doneBytes = 0
    for (index, file) in files.enumerated() {
      let start = Double(doneBytes)
      doneBytes += byteCounts[index]
      let (ended, isInterrupted) = repair(
        file, copies[index], start / allBytes..<Double(doneBytes) / allBytes, &results)
      if status == .done { status = ended }
      guard !isInterrupted else {
        // The request came while the end of this file was written.
        if ended == .done, let next = files.dropFirst(index + 1).first {
          status = .loss
          ToolFailure(
            .loss, code: "interrupted", "Stopped before \(next) was repaired.",
            hint: "Start the command again for the rest of the files."
          ).report()
        }
        break
      }
      guard command.json, files.count > 1 else { continue }
      Terminal.emit(
        .progress(Double(doneBytes) / allBytes, "bytes", ["path": FileName.withoutUser(file)]))
    }
    // If no file could be read, there is no summary for it.
    if command.json, !results.isEmpty || files.count > 1 { Terminal.emit(summary(results)) }
    return status
  }

  /// Repairs a file, which is the part `portion` of the bytes of all files, and reports the result,
  /// which is added to `results`, or the failure. Returns the status, and whether the user
  /// requested the end.
  private func repair(
    _ file: String, _ copy: String, _ portion: Range<Double>, _ results: inout [RepairResult]
  ) -> (ExitStatus, isInterrupted: Bool) {
    let name = FileName.withoutUser(file)
    var isInterrupted = false
    // At most 100 steps are reported, so that small files print little.
    let line = ProgressLine(
      "Repairing \(name)", "bytes", ["path": name], step: 0.01,
      hint: "Ctrl-C stops and removes the unfinished copy")
    defer { line.end() }
    do throws(ToolFailure) {
      let result = try mappingErrors {
        try repair(file, copy, &isInterrupted) { done in
          line.reportProgress(
            done, from: portion.lowerBound, share: portion.upperBound - portion.lowerBound)
        }
      }
      line.end()
      results.append(result)
      return (emit(result), isInterrupted)
    } catch {
      error.of(file).report()
      return (error.status, error.cause == .file(.interrupted))
    }
  }

  /// The findings about a file, and the path of the repaired or intact file.
  private struct RepairResult {
    let finding: RepairFinding
    let repaired: String?

    /// Whether the file is damaged and cannot be repaired.
    var isLost: Bool { !finding.isIntact && !finding.isRepairable }

    var fields: Fields {
      [
        "path": finding.path, "repairedPath": repaired, "fileFormat": finding.fileFormat.name,
        "frames": finding.frames, "seconds": finding.seconds, "sampleRate": finding.sampleRate,
        "headerFrames": finding.headerFrames, "wasSound": finding.isIntact,
        "problems": finding.problems,
      ]
    }
  }

  /// Repairs a file. Sets `isInterrupted` if the user requested the end while its last bytes were
  /// written.
  private func repair(
    _ path: String, _ copy: String, _ isInterrupted: inout Bool,
    progress: @escaping (Double) -> Void
  ) throws -> RepairResult {
    let finding = try FileRepair.examine(path, lostHeader: lostHeader, inPlace: command.inPlace)
    guard finding.isRepairable else { return RepairResult(finding: finding, repaired: nil) }
    if command.inPlace {
      try FileRepair.repairInPlace(finding)
      return RepairResult(finding: finding, repaired: path)
    }
    let target = command.output ?? copy
    warnOfEnding(target, finding.fileFormat)
    let stop = StopRequest(graceNanoseconds: 0)
    try FileRepair.write(finding, to: target, overwrite: command.overwrite) { done in
      progress(done)
      return stop.isThere()
    }
    isInterrupted = stop.isThere()
    return RepairResult(finding: finding, repaired: target)
  }

  /// Warns if the extension of the copy belongs to another format.
  private func warnOfEnding(_ path: String, _ format: FileFormat) {
    let named = FileFormat(pathExtensionOf: path) ?? format
    let isSame =
      named == format || [[.wav, .rf64], [.ogg, .opus]].contains([named, format] as Set)
    guard !isSame else { return }
    warn(
      "nameEnding",
      "\(path) is a \(format.title) file, and its name ends as that of a \(named.title) file.",
      hint: command.output == nil
        ? "Rename it, or name the copy with -o." : "Rename it, so that programs know its format.")
  }

  /// Prints the result for one file. Returns `.loss` if it is damaged and cannot be repaired.
  private func emit(_ repairResult: RepairResult) -> ExitStatus {
    if command.json, files.count > 1 { Terminal.emit(Event("file", repairResult.fields)) }
    let sentence = sentence(repairResult.finding, repairResult.repaired)
    guard !repairResult.isLost else {
      ToolFailure(
        .loss, code: "notMendable", sentence,
        hint: "The sound before and after the damage can be played."
      ).of(repairResult.finding.path).report()
      return .loss
    }
    if !command.json, !command.quiet { Terminal.say("\(sentence)") }
    return .done
  }

  /// Returns the summary: the results of a single file, or the totals of several and the results of
  /// each.
  private func summary(_ repairResults: [RepairResult]) -> Event {
    let findings = repairResults.map(\.finding)
    let sums: Fields = [
      "frames": findings.reduce(0) { $0 + $1.frames },
      "seconds": findings.reduce(0) { $0 + $1.seconds },
    ]
    return .summary(
      ["command": "repair"] + (files.count == 1 ? repairResults[0].fields : sums) + [
        "paths": repairResults.compactMap(\.repaired), "files": repairResults.map(\.fields),
      ])
  }

  private func sentence(_ finding: RepairFinding, _ repaired: String?) -> String {
    let length = "\(finding.frames.counted("frame")) (\(finding.seconds.shown(3)) s)"
    if finding.isIntact { return "\(finding.path): intact, \(length)." }
    let faults = finding.faults.joined(separator: ", ")
    guard let repaired else { return "\(finding.path): \(length); \(faults)." }
    let place = repaired == finding.path ? "" : " Mended: \(repaired)."
    return "\(finding.path): \(length) recovered; \(faults).\(place)"
  }
}
