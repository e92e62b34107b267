import RealtimeAudio

/// A command of the user to a recording while it runs.
public enum RecordingCommand: Sendable, Equatable {
  /// Begins the recording, where it waits for that, with what came just before.
  case start
  /// Goes on in the next file.
  case split
  /// Marks the place.
  case mark(String)
  /// Keeps nothing until the user goes on.
  case pause
  /// Goes on after a pause.
  case resume
}

/// Takes commands to the disk thread. Any thread but the audio thread.
public final class RecordingRemote: Sendable {
  private let orders = MutexBox<[(command: RecordingCommand, frame: Int)]>([])

  init() {}

  /// Asks for `command` at `frame` of the unit's timeline: at its beginning where that is below 0,
  /// and never at a frame that no recording comes to.
  public func ask(_ command: RecordingCommand, at frame: Int) {
    let frame = frame.clamped(to: 0...RecordingPlan.mostFrames)
    orders.withLock { $0.append((command, frame)) }
  }

  /// What was asked since the last time, and at which frame of the timeline.
  func take() -> [(command: RecordingCommand, frame: Int)] {
    orders.withLock { orders in
      defer { orders = [] }
      return orders
    }
  }
}

/// The commands and gaps of a recording, by the frames at which they are due, in order. Many may
/// wait while a gate looks ahead: places are found by bisection.
struct RecordingCommandPoints {
  /// A command or a gap that is due at a frame of the timeline.
  enum Point: Equatable {
    /// What the user asks.
    case command(RecordingCommand)
    /// A gap of that number of frames begins.
    case gap(Int)
  }

  private var points: [(frame: Int, point: Point)] = []
  /// How many of them were taken, and are only kept because moving the others takes long.
  private var takenCount = 0

  /// `point` is due at `frame`, or as soon as it can be.
  mutating func add(_ point: Point, at frame: Int) {
    points.insert((frame, point), at: index(behind: frame))
  }

  /// The next one that is due at `frame` or was before.
  mutating func take(upTo frame: Int) -> (frame: Int, point: Point)? {
    guard takenCount < points.count, points[takenCount].frame <= frame else { return nil }
    let taken = points[takenCount]
    takenCount += 1
    if 2 * takenCount >= points.count {
      points.removeFirst(takenCount)
      takenCount = 0
    }
    return taken
  }

  /// The frame behind `frame` at which the next one is due; `Int.max` for none.
  func nextFrame(after frame: Int) -> Int {
    let next = index(behind: frame)
    return next < points.count ? points[next].frame : .max
  }

  /// Where the first of those stands that are due behind `frame`, by bisection.
  private func index(behind frame: Int) -> Int {
    var (low, high) = (takenCount, points.count)
    while low < high {
      let middle = (low + high) / 2
      if points[middle].frame > frame { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// Ranges of the timeline that were lost, until it is known where in the recording they lie.
struct GapList {
  private var ranges: [Range<Int>] = []

  /// Frames that were lost: those of `range` of the timeline.
  mutating func add(_ range: Range<Int>) {
    if !range.isEmpty { ranges.append(range) }
  }

  /// What of them lies within `kept`. Asked for one kept range after the other.
  mutating func overlap(with kept: Range<Int>) -> [Range<Int>] {
    while let first = ranges.first, first.upperBound <= kept.lowerBound { ranges.removeFirst() }
    return ranges.prefix { $0.lowerBound < kept.upperBound }.map { $0.clamped(to: kept) }
  }
}
