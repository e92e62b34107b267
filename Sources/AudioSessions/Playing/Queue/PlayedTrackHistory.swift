/// The last turns of a player that are over, with the number of frames played in each: at most
/// 4,096, since a short file may be played for years.
///
/// A turn is stored as numbers, and the properties of a source are stored once for all of its
/// turns. One object per turn would occupy memory between large buffers of the decoders, so that
/// none of these pages could be returned to the system for hours.
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
    var position: QueuePosition
    var source: Source
    var startFrame: Int
    var frames: Int
  }

  /// The turns, the oldest first until all places are used; after that the oldest is at index
  /// `oldest`.
  private var turns: [Turn] = []
  private var oldest = 0
  /// By name: the source of the last turn with that name, and the number of stored turns with that
  /// name.
  private var sources: [String: (source: Source, turns: Int)] = [:]

  /// The number of frames played in each turn, the oldest turn first.
  var tracks: [PlayedTrack] {
    (turns[oldest...] + turns[..<oldest]).map { turn in
      PlayedTrack(
        track: PlayerTrack(
          number: turn.number, position: turn.position, info: turn.source.info,
          decoderIDs: turn.source.decoderIDs),
        startFrame: turn.startFrame, frames: turn.frames)
    }
  }

  /// Adds a turn that is over, and replaces the oldest one if there are too many.
  mutating func add(_ played: PlayedTrack) {
    let track = played.track
    let turn = Turn(
      number: track.number, position: track.position, source: source(of: track),
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

/// A track that was played: its first frame on the timeline, and the number of frames played.
public struct PlayedTrack: Sendable {
  /// The track.
  public var track: PlayerTrack
  /// Its first frame on the unit's timeline.
  public var startFrame: Int
  /// The number of frames played.
  public var frames: Int
}
