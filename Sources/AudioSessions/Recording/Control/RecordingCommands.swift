import RealtimeAudio

/// A command of the user to a running recording.
public enum RecordingCommand: Sendable, Equatable {
  /// Starts the recording if it waits for that, including the frames just before (pre-roll).
  case start
  /// Continues in the next file.
  case split
  /// Sets a marker with this label at the frame for which the command is requested.
  case mark(String)
  /// Keeps no frames until the user resumes.
  case pause
  /// Continues after a pause.
  case resume
}

/// A queue of commands for the disk thread. Any thread but the audio thread.
public final class RecordingControl: Sendable {
  private let requests = MutexBox<[(command: RecordingCommand, frame: Int)]>([])

  init() {}

  /// Requests `command` at `frame` of the unit's timeline. A frame below 0 means the beginning; a
  /// frame that no recording reaches means never.
  public func request(_ command: RecordingCommand, at frame: Int) {
    let frame = frame.clamped(to: 0...RecordingPlan.maximumFrames)
    requests.withLock { $0.append((command, frame)) }
  }

  /// The former name of `request(_:at:)`.
  @available(*, deprecated, renamed: "request(_:at:)")
  public func ask(_ command: RecordingCommand, at frame: Int) { request(command, at: frame) }

  /// Returns the commands requested since the last call, with their frames on the timeline.
  func take() -> [(command: RecordingCommand, frame: Int)] {
    requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }
}

/// The commands and gaps of a recording, ordered by the frames at which they are due. Many may wait
/// while a gate looks ahead, so positions are found by bisection.
struct RecordingCommandPoints {
  /// A command or a gap that is due at a frame of the timeline.
  enum Point: Equatable {
    /// A command of the user.
    case command(RecordingCommand)
    /// The beginning of a gap of that number of frames.
    case gap(Int)
  }

  /// The frame at which the user starts the recording; nil if no start waits. It is not among the
  /// others, because a gate starts at a frame that it receives, before that frame is written.
  private(set) var startFrame: Int?
  private var points: [(frame: Int, point: Point)] = []
  /// The number of points that were removed. They stay in the array, since moving the others is
  /// slow.
  private var takenCount = 0

  /// Adds `point`, which is due at `frame`, or as soon as possible after it. Of several starts the
  /// first one counts.
  mutating func add(_ point: Point, at frame: Int) {
    guard point != .command(.start) else {
      startFrame = startFrame ?? frame
      return
    }
    points.insert((frame, point), at: index(behind: frame))
  }

  /// Removes the start if it is due at `frame` or earlier. Returns whether it was.
  mutating func takeStart(upTo frame: Int) -> Bool {
    guard let start = startFrame, start <= frame else { return false }
    startFrame = nil
    return true
  }

  /// Removes and returns the next point that is due at `frame` or earlier; nil if there is none.
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

  /// Removes all points, and returns the labels of the markers among them, which no frame reached.
  mutating func takeMarks() -> [String] {
    defer { (points, takenCount) = ([], 0) }
    return points[takenCount...].compactMap {
      if case .command(.mark(let label)) = $0.point { label } else { nil }
    }
  }

  /// Returns the next frame after `frame` at which a point is due; `Int.max` if there is none.
  func nextFrame(after frame: Int) -> Int {
    let next = index(behind: frame)
    return next < points.count ? points[next].frame : .max
  }

  /// Returns the index of the first point that is due after `frame`, found by bisection.
  private func index(behind frame: Int) -> Int {
    var (low, high) = (takenCount, points.count)
    while low < high {
      let middle = (low + high) / 2
      if points[middle].frame > frame { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The lost ranges of the timeline, until their frames in the recording are known.
struct GapList {
  private var ranges: [Range<Int>] = []

  /// Adds a gap: the frames of `range` of the timeline.
  mutating func add(_ range: Range<Int>) {
    if !range.isEmpty { ranges.append(range) }
  }

  /// Returns the parts of the gaps that are within `kept`. Call it with kept ranges in ascending
  /// order.
  mutating func overlap(with kept: Range<Int>) -> [Range<Int>] {
    while let first = ranges.first, first.upperBound <= kept.lowerBound { ranges.removeFirst() }
    return ranges.prefix { $0.lowerBound < kept.upperBound }.map { $0.clamped(to: kept) }
  }
}
