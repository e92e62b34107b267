import AudioBasics
import AudioFiles

/// An item of a queue, played at one turn: a file, address, decoder of yours, or several at once.
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
  /// The way in which several sources are heard.
  public enum MixMode: Sendable, Equatable {
    /// All at once, added up.
    case together
    /// One at a time, in step: the one with this number first.
    case alternatives(Int)
  }

  /// One source of an item.
  public struct Part: Sendable {
    /// What it is called before it is open.
    public var name: String
    /// How it is heard. Asked when it is open: times are frames at its own rate.
    /// Throws where the source does not have what is asked for.
    public var settings: @Sendable (any SoundDecoder) throws(FileFailure) -> TrackSettings
    /// Opens it. Not on the audio thread; may wait for a network until `opening` is interrupted.
    /// Throws where it cannot be opened.
    public var open:
      @Sendable (_ opening: CancellableOpening) throws(FileFailure) -> any SoundDecoder

    /// Whether opening it may take long, as over a network.
    public var takesTime: Bool

    /// The file that it opens; nil where it is none, or not known.
    var filePath: String?

    /// The decoder that was given; nil where it opens one.
    var decoderID: ObjectIdentifier?

    /// Lets go of the decoder that was given; nil where it opens one.
    var release: (@Sendable () -> Void)?

    /// A source that `open` opens.
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

  /// How they are heard where there are several.
  public var mixMode: MixMode {
    if case .listed(_, let mixMode) = sources { return mixMode }
    return .together
  }

  /// Its sources.
  public var parts: [Part] {
    switch sources {
    case .listed(let parts, _): parts
    case .described(let list, let index): [list.part(at: index)]
    }
  }

  /// An item of several sources.
  public init(_ parts: [Part], mixMode: MixMode = .together) {
    sources = .listed(parts, mixMode)
  }

  /// An item of one source.
  public init(_ part: Part) {
    self.init([part])
  }

  /// An item of the source with the number `index` in `list`.
  public init(of list: any QueueItemParts, at index: Int) {
    sources = .described(list, index: index)
  }

  /// Its names, joined by ` + `.
  public var name: String { parts.map(\.name).joined(separator: " + ") }

  /// The same of which some parts were opened already: `decoders`, in their order.
  func reusing(_ decoders: [any SoundDecoder]) -> QueueItem {
    var parts = self.parts
    guard decoders.count == parts.count else { return self }
    for (index, decoder) in decoders.enumerated() {
      guard decoder.canBegin else { continue }
      parts[index].restart(decoder)
    }
    return QueueItem(parts, mixMode: mixMode)
  }

  /// Opens all of it for a unit of this rate and these channels. Of several parts, those that
  /// cannot be opened are left out; throws where none can.
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

/// Sources that are described each time they are asked for: of a list of a hundred thousand only
/// what tells them apart is in memory.
public protocol QueueItemParts: AnyObject, Sendable {
  /// The source with this number.
  func part(at index: Int) -> QueueItem.Part
}

/// The known properties of a source of a queue: names, format, length, bit rate and tags.
public struct StreamInfo: Sendable, Equatable {
  /// Its path or address; of several at once those of all.
  public var names: [String]
  /// Frames a second in the file.
  public var sampleRate: Int
  /// Samples in a frame of the file.
  public var channelCount: Int
  /// Frames in the file; nil where that is not known.
  public var frameCount: Int?
  /// Bits a second, on average; nil where that is not known.
  public var bitRate: Int?
  /// What it says about itself.
  public var tags: SoundFileTags
  /// Whether it can be sought, looped and played backwards.
  public var supportsSeeking: Bool

  /// Its path or address; several are joined by ` + `.
  public var name: String { names.joined(separator: " + ") }

  /// How long it is; nil where that is not known.
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

/// A source that a queue plays at one turn: a track, or several at once.
protocol QueueSource: FrameSource {
  /// What is played.
  var decoders: [any SoundDecoder] { get }
  var settings: TrackSettings { get }
  /// Where the frames that are heard lie in its (first) file.
  var positions: PositionMap { get }
  /// Whether a decoder must seek before the next frame can be read.
  var isElsewhere: Bool { get }

  /// Goes on at a boundary of the (first) file, in these settings. Throws, and goes on as before,
  /// where that cannot be.
  func begin(_ settings: TrackSettings, at place: Double) throws(FileFailure)

  /// Parts that failed since the last call, while others go on.
  func takeFailures() -> [PartFailure]
}

/// One of several sources at once that came to nothing, or ended before its end.
struct PartFailure {
  let name: String
  let failure: FileFailure
}

extension QueueSource {
  /// None: a source of a single part ends where it fails.
  func takeFailures() -> [PartFailure] { [] }

  /// That of the first, under the names of all.
  var info: StreamInfo? {
    guard let first = decoders.first else { return nil }
    var info = StreamInfo(first)
    info.names = decoders.map(\.name)
    info.supportsSeeking = decoders.allSatisfy(\.supportsSeeking)
    return info
  }

  /// Whether all have so much that reading on need not wait soon.
  func isReady(prebuffer seconds: Double?) -> Bool {
    decoders.allSatisfy { $0.isReady(prebuffer: seconds) }
  }

  /// Whether it is to be read now: where it need not wait soon, or where it must seek first. How
  /// much there is at the place that it leaves says nothing of the place that it goes to, which is
  /// fetched when it is read.
  func isReadable(prebuffer seconds: Double?) -> Bool {
    isElsewhere || isReady(prebuffer: seconds)
  }
}

extension TrackReader: QueueSource {}

/// Several tracks in step: all added up, or one of them heard at a time, to compare them. Times are
/// those of the first. It ends when the last that is heard does. It neither holds back frames nor
/// takes over a converter.
final class TrackGroup: QueueSource {
  private let tracks: [TrackReader]
  /// Which of the item's parts each track is.
  private let numbers: [Int]
  /// Parts that could not be opened and were not told yet.
  private var unopened: [PartFailure]
  private let mix: TrackMix
  /// The part that was asked to be heard next, and the boundary from which on.
  private var asked: (boundary: Int?, index: Int)?
  /// Frames until then, once it is clear.
  private var choice: (frames: Int, index: Int)?

  /// `tracks`, which are the parts `numbers` of an item: all of them, or only the part `chosen`.
  /// `failures` say what became of the other parts.
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

  /// The part that is heard; nil for all.
  var chosenPart: Int? { mix.chosen.map { numbers[$0] } }

  /// Lets the part with the number `index` be heard as soon as the next frame is read, or where the
  /// first one's file comes to `boundary`. The others are read on and let go: they stay in step.
  func choose(_ index: Int, atBoundary boundary: Int? = nil) {
    guard mix.chosen != nil, let place = numbers.firstIndex(of: index) else { return }
    asked = (boundary, place)
  }

  func begin(_ settings: TrackSettings, at place: Double) throws(FileFailure) {
    // What was asked goes with this change, or not at all.
    let asked = asked
    self.asked = nil
    let rate = Double(tracks[0].decoder.sampleRate)
    for track in tracks {
      let scale = Double(track.decoder.sampleRate) / rate
      func scaled(_ frame: Int) -> Int {
        min(Int(rounding: Double(frame) * scale), PlayPath.mostFrames)
      }
      var own = track.settings
      own.range = PlaybackRange(
        startFrame: scaled(settings.range.startFrame),
        endFrame: settings.range.endFrame.map(scaled), times: settings.range.times,
        isReversed: settings.range.isReversed)
      own.speed = settings.speed
      try track.prepare(own, at: place * scale)
    }
    // All or none: they stay in step.
    for track in tracks { track.enter() }
    choice = asked.map { asked in
      (asked.boundary.flatMap { positions.frames(until: $0) } ?? 0, asked.index)
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
