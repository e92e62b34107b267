import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions
import SimulatedDevices

/// The files that a command reads while it writes others: none of them may be written to, under
/// whatever name.
struct InputFiles {
  private var paths: [String] = []
  private var lists: [SourceList] = []

  /// The files at the microphones of the simulated devices of `audio`.
  init(_ audio: AudioOptions) {
    let devices = [audio.device, audio.captureDevice, audio.playbackDevice].compactMap { $0 }
    for device in devices {
      if let path = (try? SimulatedDeviceSpecification(parsing: device))?.microphonePath {
        add(path)
      }
    }
  }

  mutating func add(_ path: String) { paths.append(path) }

  /// What is mixed in, with the playlists it came from.
  mutating func add(_ items: PlayItems, from mixes: [MixOption]) {
    lists.append(items.sources)
    paths += mixes.map(\.path)
  }

  var identities: Set<FileIdentity> {
    var identities = Set(paths.compactMap { FileIdentity(of: $0) })
    for address in lists.joined() where !address.isRemote {
      if let identity = FileIdentity(of: address.location) { identities.insert(identity) }
    }
    return identities
  }
}

/// A file to mix in, with its gain: FILE or FILE:DB.
struct MixOption: ExpressibleByArgument {
  let path: String
  let gain: Gain

  init?(argument: String) {
    guard !argument.isEmpty else { return nil }
    // Only a number behind the last colon is a gain: names may have colons of their own, and
    // addresses have them before a port.
    let host = SourceAddress.isRemote(argument) ? argument.firstIndex(of: "/") : nil
    let name = host.map { argument[argument.index($0, offsetBy: 2)...] } ?? argument[...]
    let isHost = host != nil && !name.contains("/")
    if !isHost, let colon = argument.lastIndex(of: ":"), colon != argument.startIndex,
      WrittenNumber.decimal(argument[argument.index(after: colon)...]) != nil
    {
      guard let gain = Gain(argument[argument.index(after: colon)...]) else { return nil }
      path = String(argument[..<colon])
      self.gain = gain
    } else {
      path = argument
      gain = .unity
    }
  }
}

/// The format of bare samples: `S16_LE,44100,2`, or `cd` or `dat`.
struct RawOption: ExpressibleByArgument {
  let format: SampleFormat
  let sampleRate: Int
  let channelCount: Int

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard let format = parts.first.flatMap({ FormatOption(argument: String($0)) }),
      parts.count == 3 || (parts.count == 1 && format.channelCount != nil),
      let sampleRate = parts.count == 3 ? WrittenNumber.wholeHertz(parts[1]) : format.sampleRate,
      (1000...1_536_000).contains(sampleRate),
      let channelCount = parts.count == 3 ? WrittenNumber.whole(parts[2]) : format.channelCount,
      (1...1024).contains(channelCount)
    else { return nil }
    self.format = format.format
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// The decoder of the bare samples at `path`; standard input where it is `-`. Waits for a pipe
  /// until `opening` is cancelled.
  func decoder(of path: String, _ opening: CancellableOpening) throws(FileFailure)
    -> any SoundDecoder
  {
    try Decoding.rawDecoder(
      forPath: path, format: format, sampleRate: sampleRate, channelCount: channelCount,
      whileWaiting: { opening.onCancel($0) })
  }
}

/// A picture of the result.
struct ReportOptions: ParsableArguments {
  @Option(help: .init("Draw the result, as .svg or .html.", valueName: "file"))
  var report: String?

  @Flag(help: "Replace the report if it exists.")
  var overwrite = false

  func validate() throws {
    if let report, !report.hasSuffix(".svg"), !report.hasSuffix(".html") {
      throw ValidationError("--report needs a name that ends in .svg or .html: \(report) does not.")
    }
  }

  /// Refuses, before anything is measured, a report that cannot be written afterwards.
  func check(against inputs: InputFiles) throws(FileFailure) {
    guard let report else { return }
    try PicturePath.check(report, overwrite: overwrite, against: inputs.identities)
  }

  /// Writes it, where it is wanted.
  func write(svg: () -> String, html: () -> String) throws(FileFailure) {
    guard let report else { return }
    try TextFile.write(report.hasSuffix(".html") ? html() : svg(), to: report, overwrite: overwrite)
  }
}

/// The check of the path at which a picture is to be written.
enum PicturePath {
  /// Refuses, before anything is worked out, a picture that could not be written afterwards, or one
  /// that would replace what it is made of.
  static func check(
    _ path: String, overwrite: Bool, against inputs: Set<FileIdentity>
  ) throws(FileFailure) {
    if let identity = FileIdentity(of: path), inputs.contains(identity) {
      throw FileFailure(
        .invalidRequest, "\(path) is read by this command and cannot be written to.",
        hint: "Choose another name.")
    }
    try OutputFolder.check(for: path)
    guard !overwrite, SoundFileReader.exists(path) else { return }
    throw FileFailure(
      .cannotCreate, "\(path) exists already.",
      hint: "Choose another name, or replace the file with --overwrite.")
  }
}
