import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions
import SimulatedDevices

/// The files that a command reads while it writes others. None of them may be written to, under any
/// name.
struct InputFiles {
  private var paths: [String] = []
  private var lists: [SourceList] = []

  /// Collects the files that the simulated devices of `audio` use as microphone signals.
  init(_ audio: AudioOptions) {
    let devices = [audio.device, audio.captureDevice, audio.playbackDevice].compactMap { $0 }
    for device in devices {
      if let path = (try? SimulatedDeviceSpecification(parsing: device))?.microphonePath {
        add(path)
      }
    }
  }

  mutating func add(_ path: String) { paths.append(path) }

  /// Adds the files that are mixed in, and the playlists that contain them.
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
    // Only a number after the last colon is a gain: file names may contain colons, and addresses
    // have one before a port.
    let host = SourceAddress.isRemote(argument) ? argument.firstIndex(of: "/") : nil
    let name = host.map { argument[argument.index($0, offsetBy: 2)...] } ?? argument[...]
    let isHost = host != nil && !name.contains("/")
    // A file may have this name.
    if !isHost, !SoundFileReader.exists(argument),
      let colon = argument.lastIndex(of: ":"), colon != argument.startIndex,
      NumberParser.decimal(argument[argument.index(after: colon)...]) != nil
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

/// The format of raw samples without a header: `S16_LE,44100,2`, `cd` or `dat`.
struct RawOption: ExpressibleByArgument {
  let format: SampleFormat
  let sampleRate: Int
  let channelCount: Int

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard let format = parts.first.flatMap({ FormatOption(argument: String($0)) }),
      parts.count == 3 || (parts.count == 1 && format.channelCount != nil),
      let sampleRate = parts.count == 3 ? NumberParser.wholeHertz(parts[1]) : format.sampleRate,
      (1000...1_536_000).contains(sampleRate),
      let channelCount = parts.count == 3 ? NumberParser.whole(parts[2]) : format.channelCount,
      (1...SampleBuffer.maximumChannels).contains(channelCount)
    else { return nil }
    self.format = format.format
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Returns the decoder of the raw samples at `path`, or at standard input if `path` is `-`. Waits
  /// for a pipe until `opening` is cancelled.
  func decoder(of path: String, _ opening: CancellableOpening) throws(FileFailure)
    -> any SoundDecoder
  {
    try Decoding.rawDecoder(
      forPath: path, format: format, sampleRate: sampleRate, channelCount: channelCount,
      whileWaiting: { opening.onCancel($0) })
  }
}

/// The options for a picture of the result.
struct ReportOptions: ParsableArguments {
  @Option(help: .init("Draw the result, as .svg or .html.", valueName: "file"))
  var report: String?

  @Flag(help: "Replace the report if it exists.")
  var overwrite = false

  func validate() throws {
    if let report, !isHTML(report), !report.lowercased().hasSuffix(".svg") {
      throw ValidationError("--report needs a name that ends in .svg or .html: \(report) does not.")
    }
  }

  /// Throws if the report could not be written after the measurement.
  func check(against inputs: InputFiles) throws(FileFailure) {
    guard let report else { return }
    try PicturePath.check(report, overwrite: overwrite, against: inputs.identities)
  }

  /// Writes the report if one is requested.
  func write(svg: () -> String, html: () -> String) throws(FileFailure) {
    guard let report else { return }
    try TextFile.write(isHTML(report) ? html() : svg(), to: report, overwrite: overwrite)
  }

  private func isHTML(_ path: String) -> Bool { path.lowercased().hasSuffix(".html") }
}

/// The check of the path at which a picture will be written.
enum PicturePath {
  /// Throws if the picture could not be written after the computation, or if it would replace one
  /// of its inputs.
  static func check(
    _ path: String, overwrite: Bool, against inputs: Set<FileIdentity>
  ) throws(FileFailure) {
    if let identity = FileIdentity(of: path), inputs.contains(identity) {
      throw FileFailure(
        .invalidRequest, "\(path) is read by this command and cannot be written to.",
        hint: "Choose another name.")
    }
    try OutputFolder.refuseFolder(at: path)
    try OutputFolder.check(for: path)
    guard overwrite || !SoundFileReader.exists(path) else { throw .exists(path) }
    try TextFile.checkWriting(path, overwrite: overwrite)
  }
}
