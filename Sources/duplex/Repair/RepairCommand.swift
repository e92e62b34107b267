import ArgumentParser
import AudioFiles

/// `duplex repair`.
struct RepairCommand: ParsableCommand, TalkingCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Mend sound files whose header is wrong or whose end is torn.",
    discussion: """
      What a crash or a power cut left: WAV, RF64, Wave64, CAF, AIFF, FLAC, Ogg Vorbis and Opus. The \
      mended copy is NAME-repaired.EXT beside the file, which stays as it is unless --in-place. A \
      file that is sound is left alone. Of a WAV file whose header became zeros, say what it held: \
      --rate, --channels and --sample-format.
      """)

  @Flag(help: "Mend the file itself: only the bytes that must change are written.")
  var inPlace = false

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Where the mended copy of one FILE goes.", valueName: "out"))
  var output: String?

  @Flag(help: "Replace the mended copy if it exists.")
  var overwrite = false

  @Option(
    name: [.customShort("r"), .long], help: ArgumentHelp("Frames a second.", valueName: "hz"))
  var rate: Int?

  @Option(name: [.customShort("c"), .long], help: ArgumentHelp("Channels.", valueName: "n"))
  var channels: Int?

  @Option(help: ArgumentHelp("s16, s24, s32 or float.", valueName: "name"))
  var sampleFormat: FileSampleFormat?

  @Flag(help: "Events as JSON, one a line, on standard output, and nothing else there.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Say nothing but errors.")
  var quiet = false

  @Argument(help: "What to mend.")
  var files: [String]

  var outputMode: OutputMode { OutputMode(json: json, quiet: quiet) }

  func validate() throws {
    guard output == nil || files.count == 1 else {
      throw ValidationError("-o names one file: mend one at a time.")
    }
    guard output == nil || !inPlace else {
      throw ValidationError("--in-place and -o exclude each other.")
    }
    let told = [rate != nil, channels != nil, sampleFormat != nil]
    guard Set(told).count == 1 else {
      throw ValidationError("--rate, --channels and --sample-format belong together.")
    }
  }

  func run() throws {
    let run = try inTermsOfTheTool { try RepairRun(self) }
    throw ExitCode(run.run().rawValue)
  }
}
