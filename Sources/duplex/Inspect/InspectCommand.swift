import ArgumentParser
import AudioFiles
import CairoDrawing
import Reports
import SoundInspection

/// The command `duplex inspect`.
struct InspectCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show length, format, tags, levels, silence and gaps of sound files.",
    discussion: """
      For a folder, it shows one line per sound file: length, peak, loudness and title. Without FILE it lists \
      the current folder. --waveform and --spectrogram draw one file of any length as PNG or SVG, and need \
      Cairo (libcairo2). Samples below -60 dBFS count as silence.
      """)

  @Option(help: .init("Draw the waveform, as .png or .svg.", valueName: "file"))
  var waveform: String?

  @Option(help: .init("Draw the spectrogram, as .png or .svg.", valueName: "file"))
  var spectrogram: String?

  @Flag(help: "Replace pictures that exist.")
  var overwrite = false

  @Flag(help: "Print JSON events, one per line, and nothing else on standard output.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Print results and errors only.")
  var quiet = false

  @Argument(
    help: .init(
      "Sound files, or folders of them; - is standard input.",
      valueName: "file"))
  var files: [String] = ["."]

  var outputMode: OutputMode { OutputMode(json: json, quiet: quiet) }

  var pictures: [String] { [waveform, spectrogram].compactMap { $0 } }

  static let completeWords = ["x.wav"]

  func validate() throws {
    for picture in pictures where PictureFormat(pathExtensionOf: picture) == nil {
      throw ValidationError(
        "A picture needs a name that ends in .png or .svg: \(picture) does not.")
    }
    try require(pictures.isEmpty || files.count == 1, "A picture shows one file: give one FILE.")
    try require(
      Set(pictures.map(FileLocation.init(of:))).count == pictures.count,
      "--waveform and --spectrogram must be different files.")
  }

  func perform() -> ExitStatus { InspectRun(self).run() }
}

/// One run of the command: inspects one file after another and prints the results.
private struct InspectRun {
  private let command: InspectCommand

  init(_ command: InspectCommand) { self.command = command }

  /// The results so far.
  private struct Results {
    var status = ExitStatus.done
    var found: [InspectedFile] = []
    /// The user's request to end the run, watched once there is something for a summary. Reading a
    /// folder or a pipe may last without a look at it: then a signal ends the program by itself,
    /// with that summary.
    var stop: StopRequest?
    var isStopped = false

    /// Notes and reports the failure `error`.
    mutating func add(_ error: ToolFailure) {
      guard error.cause != .file(.interrupted) else { return interrupt() }
      error.report()
      if status == .done { status = error.status }
    }

    /// Notes and reports that the user ended the run.
    mutating func interrupt() {
      isStopped = true
      ToolFailure.stopped(.loss, "before it came to an end").report()
      if status == .done { status = .loss }
    }
  }

  /// Inspects each file and prints its results. A file that cannot be read does not stop the run.
  func run() -> ExitStatus {
    var results = Results()
    for path in command.files where !results.isStopped { inspectFiles(at: path, &results) }
    // If no file could be read, there is no summary for it.
    if command.json, !results.found.isEmpty || command.files.count > 1 {
      Terminal.emit(summary(results.found))
    }
    return results.status
  }

  /// Inspects a file, or each file of a folder, up to a request to end the run.
  private func inspectFiles(at path: String, _ results: inout Results) {
    let isFolder = SoundFolder.isFolder(path)
    if isFolder || path == "-" {
      guard !isInterrupted(&results) else { return }
      results.stop = nil
      if command.json, !results.found.isEmpty {
        Terminal.endOnSignals(with: command.stoppedStatus, summary: summary(results.found))
      }
    }
    let files = isFolder ? attempt(path, &results) { _ in try notes(in: path) } ?? [] : [path]
    for file in files {
      guard !isInterrupted(&results) else { return }
      if let inspected = attempt(file, &results, { stop in try inspect(file, stop) }) {
        results.found.append(inspected)
        show(inspected, asNote: isFolder)
      }
      guard !results.isStopped else { return }
      if command.json, !results.found.isEmpty, results.stop == nil {
        results.stop = StopRequest(graceNanoseconds: 0)
      }
    }
  }

  /// Returns whether the end of the run is requested, and reports that.
  private func isInterrupted(_ results: inout Results) -> Bool {
    guard results.stop?.isThere() == true else { return false }
    results.interrupt()
    return true
  }

  /// Returns the sound files of a folder.
  private func notes(in folder: String) throws -> [String] {
    guard command.pictures.isEmpty else {
      throw ToolFailure.usage(
        "A picture shows one file, and \(folder) is a folder.",
        hint: "Name a file in it.")
    }
    let files = try SoundFolder.files(in: folder)
    files.warnOfUnreadableFolders()
    return Array(files)
  }

  /// Returns the result of `body` for the file or folder `path`. Returns nil if it throws; the
  /// error is reported and changes `results`.
  private func attempt<Value>(
    _ path: String, _ results: inout Results, _ body: (StopRequest?) throws -> Value
  ) -> Value? {
    let stop = results.stop
    do throws(ToolFailure) {
      return try mappingErrors { try body(stop) }
    } catch {
      let failure =
        error.status == .unusableInput && (try? FileRepair.examine(path))?.isRepairable == true
        ? error.adding(hint: "`duplex repair \(path)` makes a whole file of what is there.") : error
      results.add(failure.of(path))
      return nil
    }
  }

  /// Returns what is in a file. Throws a failure of the kind `.interrupted` if `stop` is there
  /// before its end.
  private func inspect(_ path: String, _ stop: StopRequest?) throws -> InspectedFile {
    let inputs = Set([FileIdentity(of: path)].compactMap { $0 })
    for picture in command.pictures {
      try about(picture) {
        try PicturePath.check(picture, overwrite: command.overwrite, against: inputs)
      }
    }
    let decoder = try Decoding.decoder(forPath: path)
    let line = ProgressLine(
      "Reading \(path)", "inspect", ["path": path], step: 0.01, silentSeconds: 1,
      hint: "Ctrl-C ends")
    let frameCount = Double(decoder.frameCount ?? 0)
    let inspection = try SoundInspection(
      of: decoder, drawsWaveform: command.waveform != nil,
      drawsSpectrogram: command.spectrogram != nil
    ) { frames throws(FileFailure) in
      guard stop?.isThere() != true else { throw .interrupted(path) }
      if frameCount > 0 { line.reportProgress(min(1, Double(frames) / frameCount)) }
    }
    line.end()
    if inspection.nonFiniteSamples > 0 {
      let sentence = SessionOutcome.nonFiniteSentence(inspection.nonFiniteSamples)
      warn("notNumbers", "\(path): \(sentence)")
    }
    try draw(inspection, of: decoder)
    return InspectedFile(path, decoder, inspection, command.pictures)
  }

  private func draw(_ inspection: SoundInspection, of decoder: any SoundDecoder) throws {
    let title = SoundTitle(
      name: FileName.shown(String(FileName.last(of: decoder.name))).printable,
      frames: inspection.frames, sampleRate: decoder.sampleRate,
      channelCount: decoder.channelCount)
    if let waveform = inspection.waveform {
      try draw(command.waveform) { format throws(DrawingFailure) in
        try WaveformPicture.bytes(waveform, title, format)
      }
    }
    if let spectrogram = inspection.spectrogram {
      try draw(command.spectrogram) { format throws(DrawingFailure) in
        try SpectrogramPicture.bytes(spectrogram, title, format)
      }
    }
  }

  /// Writes the picture that `bytes` draws to `path`, if a path is given.
  private func draw(
    _ path: String?, _ bytes: (PictureFormat) throws(DrawingFailure) -> [UInt8]
  ) throws {
    guard let path, let format = PictureFormat(pathExtensionOf: path) else { return }
    let drawn: [UInt8]
    do throws(DrawingFailure) {
      drawn = try bytes(format)
    } catch {
      throw ToolFailure(error)
    }
    try about(path) { try TextFile.write(drawn, to: path, overwrite: command.overwrite) }
  }

  /// Runs `body`, whose failure is about the picture `path`, and not about the sound.
  private func about(_ path: String, _ body: () throws -> Void) throws(ToolFailure) {
    do throws(ToolFailure) {
      try mappingErrors(body)
    } catch {
      throw error.of(path)
    }
  }

  private func show(_ file: InspectedFile, asNote: Bool) {
    if command.json {
      Terminal.emit(Event("inspect", file.fields))
    } else if asNote {
      Terminal.printLine("\(file.note)")
    } else {
      Terminal.printLines(file.lines)
    }
  }

  /// Returns the summary: the results of a single file, or the totals of several and the results of
  /// each.
  private func summary(_ files: [InspectedFile]) -> Event {
    let sums: Fields = [
      "frames": files.reduce(0) { $0 + $1.frames },
      "seconds": files.reduce(0) { $0 + $1.seconds },
    ]
    return .summary(
      ["command": "inspect"] + (files.count == 1 ? files[0].fields : sums) + [
        "paths": files.isEmpty ? [] : command.pictures, "files": files.map(\.fields),
      ])
  }
}

extension ToolFailure {
  fileprivate init(_ failure: DrawingFailure) {
    switch failure {
    case .noLibrary:
      self.init(
        .unavailable, code: "noCairo", "Pictures are drawn by Cairo, which is not installed.",
        hint: "Install it: sudo apt install libcairo2.")
    case .noMemory:
      self.init(
        .unavailable, code: "noMemory", "There is not enough memory for the picture.",
        hint: "End other programs, then try again.")
    }
  }
}
