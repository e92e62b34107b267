/// The last turns of a player that are over, with how much was played of each: at most 4,096, since
/// a short file may be played for years.
///
/// A turn is kept as numbers, and what is known of a source once for all turns of it. One object
/// for each turn would hold on to memory between large buffers of the decoders, so that no page of
/// it could be given back for hours.
struct PlayedTrackHistory: Sendable {
  private static let capacity = 4096

  /// The source that several turns have in common.
  private final class Source: Sendable {
    let info: StreamInfo
    let decoderIDs: [ObjectIdentifier]

    init(_ track: PlayerTrack) {
      info = track.info
      decoderIDs = track.decoderIDs
    }

    func isSource(of track: PlayerTrack) -> Bool {
      decoderIDs == track.decoderIDs && info == track.info
    }
  }

  private struct Turn {
    var number: Int
    var place: QueuePosition
    var source: Source
    var startFrame: Int
    var frames: Int
  }

  /// The oldest first until all places are taken; from then on it stands at `oldest`.
  private var turns: [Turn] = []
  private var oldest = 0
  /// By their names: the source of the last turn of each name, and how many of the turns that are
  /// kept have that name.
  private var sources: [String: (source: Source, turns: Int)] = [:]

  /// How much was played in each turn, the oldest first.
  var tracks: [PlayedTrack] {
    (turns[oldest...] + turns[..<oldest]).map { turn in
      PlayedTrack(
        track: PlayerTrack(
          number: turn.number, place: turn.place, info: turn.source.info,
          decoderIDs: turn.source.decoderIDs),
        startFrame: turn.startFrame, frames: turn.frames)
    }
  }

  /// Adds a turn that is over, in place of the oldest where there are too many.
  mutating func add(_ played: PlayedTrack) {
    let track = played.track
    let turn = Turn(
      number: track.number, place: track.place, source: source(of: track),
      startFrame: played.startFrame, frames: played.frames)
    guard turns.count == Self.capacity else {
      if turns.isEmpty { turns.reserveCapacity(Self.capacity) }
      turns.append(turn)
      return
    }
    forgetName(turns[oldest].source.info.name)
    turns[oldest] = turn
    oldest = (oldest + 1) % Self.capacity
  }

  private mutating func source(of track: PlayerTrack) -> Source {
    let name = track.info.name
    let known = sources[name]
    let source = known.flatMap { $0.source.isSource(of: track) ? $0.source : nil } ?? Source(track)
    sources[name] = (source, (known?.turns ?? 0) + 1)
    return source
  }

  private mutating func forgetName(_ name: String) {
    guard let known = sources[name] else { return }
    sources[name] = known.turns > 1 ? (known.source, known.turns - 1) : nil
  }
}

/// A track that was played: its first frame on the timeline, and how many frames were played.
public struct PlayedTrack: Sendable {
  /// Which.
  public var track: PlayerTrack
  /// Its first frame on the unit's timeline.
  public var startFrame: Int
  /// Frames that were played.
  public var frames: Int
}
