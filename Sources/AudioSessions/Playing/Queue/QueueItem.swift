import AudioBasics
import AudioFiles

/// An item of a queue, played in one turn: a file, an address, a custom decoder, or several sources
/// at once.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
/// for path in ["drums.wav", "bass.wav"] {
///   try await engine.record(to: path)
///   try await engine.run(seconds: 0.5)
/// }
/// let parts = ["drums.wav", "bass.wav"].map { path in
///   QueueItem.Part(name: path) { _ throws(FileFailure) in
///     try Decoding.decoder(forPath: path)
///   }
/// }
/// engine.player.enqueue(QueueItem(parts, mixMode: .together))
/// ```
public struct QueueItem: Sendable {
  /// The way in which several sources are played.
  public enum MixMode: Sendable, Equatable {
    /// All sources at once, added up.
    case together
    /// One source at a time, in step: the one with this index first.
    case alternatives(Int)
  }

  /// One source of an item.
  public struct Part: Sendable {
    /// The name of the source before it is open.
    public var name: String
    /// A closure that returns the playback settings. It is called when the source is open: times
    /// are frames at its own rate. Throws if the source cannot satisfy the settings.
    public var settings: @Sendable (any SoundDecoder) throws(FileFailure) -> TrackSettings
    /// A closure that opens the source. Not called on the audio thread; may wait for a network
    /// until `opening` is cancelled. Throws if the source cannot be opened.
    public var open:
      @Sendable (_ opening: CancellableOpening) throws(FileFailure) -> any SoundDecoder

    /// Whether opening the source may take long, for example over a network: it is then opened on a
    /// separate thread, and neither the track before it nor the start of a session waits for that.
    public var takesTime: Bool

    /// The file that the part opens; nil if there is none, or if it is unknown.
    var filePath: String?

    /// The ID of the decoder that was given; nil if the part opens a decoder.
    var decoderID: ObjectIdentifier?

    /// A closure that releases the decoder that was given; nil if the part opens a decoder.
    var release: (@Sendable () -> Void)?

    /// Creates a source that `open` opens.
    public init(
      name: String, takesTime: Bool = false,
      settings: @escaping @Sendable (any SoundDecoder) throws(FileFailure) -> TrackSettings = {
        _ throws(FileFailure) in TrackSettings()
      },
      open:
        @escaping @Sendable (_ opening: CancellableOpening) throws(FileFailure) -> any SoundDecoder
    ) {
      self.name = name
      self.takesTime = takesTime
      self.settings = settings
      self.open = open
    }
  }

  private enum Sources: Sendable {
    case listed([Part], MixMode)
    case described(any QueueItemParts, index: Int)
  }

  private let sources: Sources

  /// The way in which several sources are played.
  public var mixMode: MixMode {
    if case .listed(_, let mixMode) = sources { return mixMode }
    return .together
  }

  /// The sources of the item.
  public var parts: [Part] {
    switch sources {
    case .listed(let parts, _): parts
    case .described(let list, let index): [list.part(at: index)]
    }
  }

  /// Creates an item of several sources.
  public init(_ parts: [Part], mixMode: MixMode = .together) {
    sources = .listed(parts, mixMode)
  }

  /// Creates an item of one source.
  public init(_ part: Part) {
    self.init([part])
  }

  /// Creates an item of the source with the number `index` in `list`.
  public init(of list: any QueueItemParts, at index: Int) {
    sources = .described(list, index: index)
  }

  /// The names of the parts, joined by ` + `.
  public var name: String { parts.map(\.name).joined(separator: " + ") }

  /// Returns the same item with `decoders`, in the order of the parts, for parts that were already
  /// opened.
  func reusing(_ decoders: [any SoundDecoder]) -> QueueItem {
    var parts = self.parts
    guard decoders.count == parts.count else { return self }
    for (index, decoder) in decoders.enumerated() {
      guard decoder.canBegin else { continue }
      parts[index].restart(decoder)
    }
    return QueueItem(parts, mixMode: mixMode)
  }

  /// Opens all parts for a unit of this rate and number of channels. Of several parts, those that
  /// cannot be opened are left out; throws if none can be opened.
  func source(
    _ opening: CancellableOpening, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> any QueueSource {
    let parts = self.parts
    var tracks: [TrackReader] = []
    var numbers: [Int] = []
    var failures: [PartFailure] = []
    for (number, part) in parts.enumerated() {
      do throws(FileFailure) {
        let opened = try part.open(opening)
        let isKept = opened.supportsSeeking || opened is RestartableDecoder
        let decoder =
          isKept ? opened : RestartableDecoder(opened, memorySharedBy: parts.count)
        tracks.append(
          try TrackReader(
            decoder, sampleRate: sampleRate, channelCount: channelCount,
            settings: try part.settings(decoder)))
        numbers.append(number)
      } catch {
        failures.append(PartFailure(name: part.name, failure: error))
      }
    }
    guard let first = tracks.first else {
      throw failures.first?.failure
        ?? FileFailure(.cannotOpen, "There is nothing to play.", hint: "Name a file or an address.")
    }
    guard parts.count > 1 else { return first }
    var chosen: Int?
    if case .alternatives(let number) = mixMode { chosen = number }
    return TrackGroup(
      tracks, numbers: numbers, failures: failures, channelCount: channelCount, chosen: chosen)
  }
}

/// A list of sources that are described each time they are requested: for a list of 100,000
/// sources, only the data that distinguish them are in memory.
public protocol QueueItemParts: AnyObject, Sendable {
  /// Returns the source with this number.
  func part(at index: Int) -> QueueItem.Part
}

/// The known properties of a source of a queue: names, format, length, bit rate and tags.
public struct StreamInfo: Sendable, Equatable {
  /// The path or address; for several sources at once, those of all.
  public var names: [String]
  /// The sample rate of the file in frames per second.
  public var sampleRate: Int
  /// The number of channels of the file.
  public var channelCount: Int
  /// The number of frames of the file; nil if it is unknown.
  public var frameCount: Int?
  /// The average bit rate in bits per second; nil if it is unknown.
  public var bitRate: Int?
  /// The tags of the source.
  public var tags: SoundFileTags
  /// Whether the source supports seeking, looping and reverse playback.
  public var supportsSeeking: Bool

  /// The path or address; several are joined by ` + `.
  public var name: String { names.joined(separator: " + ") }

  /// The duration in seconds; nil if it is unknown.
  public var seconds: Double? { frameCount.map { Double($0) / Double(sampleRate) } }

  init(_ decoder: any SoundDecoder) {
    names = [decoder.name]
    sampleRate = decoder.sampleRate
    channelCount = decoder.channelCount
    frameCount = decoder.frameCount
    bitRate = decoder.bitRate
    tags = decoder.tags
    supportsSeeking = decoder.supportsSeeking
  }
}

/// A source that a queue plays in one turn: one track, or several at once.
protocol QueueSource: FrameSource {
  /// The decoders that are played.
  var decoders: [any SoundDecoder] { get }
  var settings: TrackSettings { get }
  /// The positions of the played frames in the (first) file.
  var positions: PositionMap { get }
  /// Whether a decoder must seek before the next frame can be read.
  var isElsewhere: Bool { get }

  /// Continues at the boundary `position` of the (first) file, with these settings. Throws if that
  /// is impossible, and then continues as before.
  func begin(_ settings: TrackSettings, at position: Double) throws(FileFailure)

  /// Returns the parts that failed since the last call while others continued.
  func takeFailures() -> [PartFailure]
}

/// One of several simultaneous sources that could not be opened, or ended before its end.
struct PartFailure {
  let name: String
  let failure: FileFailure
}

extension QueueSource {
  /// Returns no failures: a source of a single part ends if it fails.
  func takeFailures() -> [PartFailure] { [] }

  /// The properties of the first decoder, with the names of all.
  var info: StreamInfo? {
    guard let first = decoders.first else { return nil }
    var info = StreamInfo(first)
    info.names = decoders.map(\.name)
    info.supportsSeeking = decoders.allSatisfy(\.supportsSeeking)
    return info
  }

  /// Returns whether all decoders have buffered so much that a read will not block soon.
  func isReady(prebuffer seconds: Double?) -> Bool {
    decoders.allSatisfy { $0.isReady(prebuffer: seconds) }
  }

  /// Returns whether the source should be read now: if a read will not block soon, or if it must
  /// seek first. The amount buffered at the old position says nothing about the new one, whose data
  /// are fetched by the read.
  func isReadable(prebuffer seconds: Double?) -> Bool {
    isElsewhere || isReady(prebuffer: seconds)
  }
}

extension TrackReader: QueueSource {}

/// Several tracks in step: all added up, or one of them at a time, to compare them. Times are those
/// of the first track. The group ends when the last of the audible tracks ends. It neither holds
/// back frames nor takes over a converter.
final class TrackGroup: QueueSource {
  private let tracks: [TrackReader]
  /// The index of the item's part for each track.
  private let numbers: [Int]
  /// The parts that could not be opened and were not reported yet.
  private var unopened: [PartFailure]
  private let mix: TrackMix
  /// The part requested to be played next, and the boundary from which it is played.
  private var requested: (boundary: Int?, index: Int)?
  /// The number of frames until then, once it is known.
  private var choice: (frames: Int, index: Int)?

  /// Creates a group of `tracks`, which are the parts `numbers` of an item: all of them are played,
  /// or only the part `chosen`. `failures` contains the failures of the other parts.
  init(
    _ tracks: [TrackReader], numbers: [Int], failures: [PartFailure], channelCount: Int,
    chosen: Int? = nil
  ) {
    self.tracks = tracks
    self.numbers = numbers
    unopened = failures
    mix = TrackMix(tracks, channelCount: channelCount)
    mix.chosen = chosen.map { numbers.firstIndex(of: $0) ?? 0 }
  }

  var decoders: [any SoundDecoder] { tracks.map(\.decoder) }
  var settings: TrackSettings { tracks[0].settings }
  var positions: PositionMap { tracks[0].positions }
  var isElsewhere: Bool {
    tracks.indices.contains { tracks[$0].isElsewhere && !mix.hasFailed[$0] }
  }

  var nonFiniteCount: Int { mix.nonFiniteCount }

  /// The part that is played; nil for all.
  var chosenPart: Int? { mix.chosen.map { numbers[$0] } }

  /// Plays the part with the number `index` from the next frame that is read, or from the
  /// `boundary` of the first track's file. The other parts are read and discarded, so that they
  /// stay in step.
  func choose(_ index: Int, atBoundary boundary: Int? = nil) {
    guard mix.chosen != nil, let position = numbers.firstIndex(of: index) else { return }
    requested = (boundary, position)
  }

  func begin(_ settings: TrackSettings, at position: Double) throws(FileFailure) {
    // The requested choice is applied with this change, or not at all.
    let requested = requested
    self.requested = nil
    let rate = Double(tracks[0].decoder.sampleRate)
    for track in tracks {
      let scale = Double(track.decoder.sampleRate) / rate
      func scaled(_ frame: Int) -> Int {
        min(Int(rounding: Double(frame) * scale), PlayPath.maximumFrames)
      }
      var own = track.settings
      own.range = PlaybackRange(
        startFrame: scaled(settings.range.startFrame),
        endFrame: settings.range.endFrame.map(scaled), times: settings.range.times,
        isReversed: settings.range.isReversed)
      own.speed = settings.speed
      try track.prepare(own, at: position * scale)
    }
    // All tracks change or none, so that they stay in step.
    for track in tracks { track.enter() }
    choice = requested.map { requested in
      (requested.boundary.flatMap { positions.frames(until: $0) } ?? 0, requested.index)
    }
  }

  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    if let due = choice, due.frames == 0 {
      mix.chosen = due.index
      choice = nil
    }
    let count = try mix.read(into: &buffer, frames: min(frames, choice?.frames ?? .max))
    choice = choice.map { ($0.frames - count, $0.index) }
    return count
  }

  func takeFailures() -> [PartFailure] {
    defer { unopened = [] }
    return unopened
      + mix.takeFailures().map { PartFailure(name: tracks[$0.index].path, failure: $0.failure) }
  }
}
