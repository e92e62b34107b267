import AudioFiles

/// What is known of a source of a queue: for people, and to reckon with.
public struct SourceFacts: Sendable, Equatable {
  /// Its path or address; several are joined by ` + `.
  public var name: String
  /// Frames a second in the file.
  public var sampleRate: Int
  /// Samples in a frame of the file.
  public var channelCount: Int
  /// Frames in the file; nil where nobody knows.
  public var frameCount: Int?
  /// Bits a second, on average; nil where that is not known.
  public var bitRate: Int?
  /// What it says about itself.
  public var tags: SoundFileTags
  /// Whether it can be sought, looped and played backwards.
  public var supportsSeeking: Bool

  /// How long it is; nil where nobody knows.
  public var seconds: Double? { frameCount.map { Double($0) / Double(sampleRate) } }

  init(_ decoder: any SoundDecoder) {
    name = decoder.name
    sampleRate = decoder.sampleRate
    channelCount = decoder.channelCount
    frameCount = decoder.frameCount
    bitRate = decoder.bitRate
    tags = decoder.tags
    supportsSeeking = decoder.supportsSeeking
  }
}

/// What a queue plays at its turn: a track, or several at once.
protocol QueueSource: FrameSource {
  /// What is played.
  var decoders: [any SoundDecoder] { get }
  var settings: TrackSettings { get }
  /// Where the frames that are heard lie in its (first) file.
  var way: TrackWay { get }

  /// Goes on at a boundary of the (first) file, in these settings. Throws, and goes on as before, where
  /// that cannot be.
  func begin(_ settings: TrackSettings, at place: Double) throws(FileFailure)

  /// Parts that failed since the last call, while others go on.
  func takeFailures() -> [PartFailure]

  /// Joins, as `Track` explains them.
  var isFollowed: Bool { get set }
  var followsSound: Bool { get set }
  var isHolding: Bool { get }
  var endFrame: Int { get }
  func release(beforeSound: Bool)
}

/// One of several sources at once that came to nothing, or ended before its end.
struct PartFailure {
  let name: String
  let failure: FileFailure
}

extension QueueSource {
  /// What is one ends where it fails.
  func takeFailures() -> [PartFailure] { [] }

  /// That of the first, under the names of all.
  var facts: SourceFacts? {
    guard let first = decoders.first else { return nil }
    var facts = SourceFacts(first)
    facts.name = decoders.map(\.name).joined(separator: " + ")
    facts.supportsSeeking = decoders.allSatisfy(\.supportsSeeking)
    return facts
  }

  /// Whether all have so much that reading on need not wait soon.
  var isReady: Bool { decoders.allSatisfy(\.isReady) }
}

extension Track: QueueSource {}
