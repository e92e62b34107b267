import ArgumentParser
import AudioFiles
import CairoDrawing
import Reports
import SoundInspection

/// `duplex inspect`.
struct InspectCommand: ParsableCommand, TalkingCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show length, format, tags, levels, silence and gaps of sound files.",
    discussion: """
      Reads each file once, from end to end. For a folder, without a name the current one, it lists the sound \
      files: length, peak, loudness and title. --waveform and --spectrogram draw one file as PNG or SVG, of any length; \
      they need Cairo (libcairo2). Silence is what stays below -60 dBFS.
      """)

  @Option(help: ArgumentHelp("Draw the waveform, as .png or .svg.", valueName: "file"))
  var waveform: String?

  @Option(help: ArgumentHelp("Draw the spectrogram, as .png or .svg.", valueName: "file"))
  var spectrogram: String?

  @Flag(help: "Replace pictures that exist.")
  var overwrite = false

  @Flag(help: "Events as JSON, one a line, on standard output, and nothing else there.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Print results and errors only.")
  var quiet = false

  @Argument(
    help: ArgumentHelp(
      "Sound files, or folders of them; - is standard input.",
      valueName: "file"))
  var files: [String] = ["."]

  var outputMode: OutputMode { OutputMode(json: json, quiet: quiet) }

  var pictures: [String] { [waveform, spectrogram].compactMap { $0 } }

  func validate() throws {
    for picture in pictures where PictureFormat(pathExtensionOf: picture) == nil {
      throw ValidationError("Pictures are .png or .svg; \(picture) is neither.")
    }
    guard pictures.isEmpty || files.count == 1 else {
      throw ValidationError("A picture shows one file: name one file.")
    }
    if let waveform, let spectrogram, OutputFolder.isSame(waveform, spectrogram) {
      throw ValidationError("--waveform and --spectrogram name the same file.")
    }
  }

  func run() throws {
    throw ExitCode(InspectRun(self).run().rawValue)
  }
}

/// Looks at one file after another, and tells what is in them.
private struct InspectRun {
  private let command: InspectCommand

  init(_ command: InspectCommand) { self.command = command }

  /// Tells of each file what is in it. One that cannot be read does not keep the others from it.
  func run() -> ExitStatus {
    var status = ExitStatus.done
    var found: [InspectedFile] = []
    for path in command.files {
      do throws(ToolFailure) {
        let isFolder = SoundFolder.isFolder(path)
        let files = isFolder ? try notes(in: path) : [path]
        for file in files {
          guard let inspected = inspected(file, &status) else { continue }
          found.append(inspected)
          show(inspected, asNote: isFolder)
        }
      } catch {
        error.of(path).report()
        if status == .done { status = error.status }
      }
    }
    // Where nothing could be read there is nothing to sum up.
    if command.json, !found.isEmpty || command.files.count > 1 { Terminal.emit(summary(found)) }
    return status
  }

  /// The sound files of a folder.
  private func notes(in folder: String) throws(ToolFailure) -> [String] {
    guard command.pictures.isEmpty else {
      throw ToolFailure(
        .usage, code: "usage", "A picture shows one file, and \(folder) is a folder.",
        hint: "Name a file in it.")
    }
    return try inTermsOfTheTool { Array(try SoundFolder.files(in: folder)) }
  }

  /// What is in a file; nil where it cannot be read, which is told and changes `status`.
  private func inspected(_ path: String, _ status: inout ExitStatus) -> InspectedFile? {
    do throws(ToolFailure) {
      return try inTermsOfTheTool { try inspect(path) }
    } catch {
      error.of(path).report()
      if status == .done { status = error.status }
      return nil
    }
  }

  private func inspect(_ path: String) throws -> InspectedFile {
    let inputs = Set([FileIdentity(of: path)].compactMap { $0 })
    for picture in command.pictures {
      try PicturePath.check(picture, overwrite: command.overwrite, against: inputs)
    }
    let decoder = try Decoding.decoder(forPath: path)
    var progress = InspectProgress(path, decoder.frameCount)
    let inspection = try SoundInspection(
      of: decoder, drawsWaveform: command.waveform != nil,
      drawsSpectrogram: command.spectrogram != nil
    ) { progress.tell($0) }
    progress.finish()
    try draw(inspection, of: decoder)
    return InspectedFile(path, decoder, inspection, command.pictures)
  }

  private func draw(
    _ inspection: SoundInspection, of decoder: any SoundDecoder
  ) throws {
    let title = SoundTitle(
      name: FileName.shown(String(FileName.last(of: decoder.name))).printable,
      frames: inspection.frames, sampleRate: decoder.sampleRate,
      channelCount: decoder.channelCount)
    if let path = command.waveform, let format = PictureFormat(pathExtensionOf: path),
      let waveform = inspection.waveform
    {
      let bytes = try drawn { () throws(DrawingFailure) in
        try WaveformPicture.bytes(waveform, title, format)
      }
      try TextFile.write(bytes, to: path, overwrite: command.overwrite)
    }
    if let path = command.spectrogram, let format = PictureFormat(pathExtensionOf: path),
      let spectrogram = inspection.spectrogram
    {
      let bytes = try drawn { () throws(DrawingFailure) in
        try SpectrogramPicture.bytes(spectrogram, title, format)
      }
      try TextFile.write(bytes, to: path, overwrite: command.overwrite)
    }
  }

  private func show(_ file: InspectedFile, asNote: Bool) {
    if command.json {
      Terminal.emit(Event("inspect", file.fields))
    } else if asNote {
      Terminal.printLine("\(file.note)")
    } else {
      for line in file.lines { Terminal.printLine("\(line)") }
    }
  }

  /// Of one file what is known of it; of several each.
  private func summary(_ files: [InspectedFile]) -> Event {
    let sums: [(String, JSON)] = [
      ("frames", .integer(files.reduce(0) { $0 + $1.frames })),
      ("seconds", .number(files.reduce(0) { $0 + $1.seconds })),
    ]
    return .summary(
      [("command", .string("inspect"))] + (files.count == 1 ? files[0].fields : sums) + [
        ("paths", .array(files.isEmpty ? [] : command.pictures.map { .string($0) })),
        ("files", .array(files.map { .fields($0.fields) })),
      ])
  }
}

/// What `body` draws, or why nothing can be drawn.
private func drawn(_ body: () throws(DrawingFailure) -> [UInt8]) throws(ToolFailure) -> [UInt8] {
  do throws(DrawingFailure) {
    return try body()
  } catch {
    throw ToolFailure(error)
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
        .unavailable, code: "noMemory", "There is no memory for the picture.",
        hint: "End other programs.")
    }
  }
}

/// Tells how far a long file was read.
private struct InspectProgress {
  private let path: String
  private let frameCount: Int
  private let began = SteadyTime()
  private var line = ProgressLine()
  private var told = 0.0

  init(_ path: String, _ frameCount: Int?) {
    self.path = path
    self.frameCount = frameCount ?? 0
  }

  /// So many frames were read. Nothing is said in the first second.
  mutating func tell(_ frames: Int) {
    guard frameCount > 0 else { return }
    let done = min(1, Double(frames) / Double(frameCount))
    guard done >= told + 0.01, began.seconds > 1 else { return }
    told = done
    if OutputMode.current.json {
      Terminal.emit(.progress(done, "inspect", [("path", .string(path))]))
    } else {
      line.draw(path, done: done)
    }
  }

  /// The line that was drawn goes.
  mutating func finish() { line.end() }
}
