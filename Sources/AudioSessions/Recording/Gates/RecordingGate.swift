import AudioBasics

/// Where a stretch that is kept begins or ends.
public enum TakeEdge: Sendable, Equatable {
  /// The first frame of a stretch that is kept.
  case open(Int)
  /// The first frame that is not kept any more.
  case close(Int)

  /// The captured frame at which it lies, the first being 0.
  public var frame: Int {
    switch self {
    case .open(let frame), .close(let frame): frame
    }
  }
}

/// Decides which stretches of a recording are kept. Disk thread only.
public protocol RecordingGate: Sendable {
  /// Takes the next captured frames: the first `frames` of `buffer`.
  mutating func process(_ buffer: borrowing SampleBuffer, frames: Int)

  /// The next edge that is settled; nil while there is none. Edges come in order, open and close in
  /// turn, never at an earlier frame than the edge before.
  mutating func nextEdge() -> TakeEdge?

  /// No further edge will come at an earlier frame than this: what lies before may be written (if
  /// open) or forgotten (if closed).
  var settledFrame: Int { get }

  /// The recording is over: what was waited for is decided. An open stretch ends with a last close at or
  /// before its end.
  mutating func finish()

  /// The most frames that can lie between `settledFrame` and what was heard, where every edge was
  /// asked for.
  var lookaheadFrames: Int { get }

  /// The user wants what comes from now on. Means nothing to a gate that does not wait.
  mutating func start()
}

extension RecordingGate {
  /// Nothing.
  public mutating func start() {}
}

/// The edges that are settled and were not yet asked for, in order.
struct EdgeList: Sendable {
  private var edges: [TakeEdge] = []
  /// Where the latest edge lies; 0 before the first.
  private(set) var lastFrame = 0

  /// An empty list with room for the edges of a long while.
  init() {
    edges.reserveCapacity(64)
  }

  /// The frame of the edge that is asked for next.
  var firstFrame: Int? { edges.first?.frame }

  mutating func add(_ edge: TakeEdge) {
    edges.append(edge)
    lastFrame = edge.frame
  }

  mutating func next() -> TakeEdge? {
    edges.isEmpty ? nil : edges.removeFirst()
  }
}

/// The stretch of the captured frames that goes into the file.
public struct PunchWindow: Sendable, Equatable {
  /// Its first frame.
  public var firstFrame: Int
  /// Its length; nil for all that comes.
  public var frames: Int?

  /// The stretch of `frames` frames from `firstFrame` on; all frames by default.
  public init(firstFrame: Int = 0, frames: Int? = nil) {
    self.firstFrame = firstFrame
    self.frames = frames
  }

  /// Which of `frames` frames, the first of which is frame `position`, lie within:
  /// counted from that first.
  func part(of position: Int, frames count: Int) -> Range<Int> {
    let end = frames.map { firstFrame + $0 } ?? .max
    let lower = min(count, max(0, firstFrame - position))
    let upper = min(count, max(lower, end == .max ? count : end - position))
    return lower..<max(lower, upper)
  }
}

/// Keeps one stretch that was named beforehand. Disk thread only.
public struct WindowGate: RecordingGate {
  private let firstFrame: Int
  private let endFrame: Int?
  private var receivedFrames = 0
  private var edges = EdgeList()
  private var isBegun = false
  private var isEnded = false

  /// Keeps what lies within `window`: all frames by default.
  public init(_ window: PunchWindow = PunchWindow()) {
    firstFrame = max(0, window.firstFrame)
    endFrame = window.frames.map { max(0, window.firstFrame) + max(0, $0) }
  }

  /// Counts the frames; what they sound like does not matter.
  public mutating func process(_ buffer: borrowing SampleBuffer, frames: Int) {
    receivedFrames += frames
    if !isBegun && receivedFrames > firstFrame {
      isBegun = true
      edges.add(.open(firstFrame))
    }
    guard isBegun, !isEnded, let endFrame, receivedFrames >= endFrame else { return }
    isEnded = true
    edges.add(.close(endFrame))
  }

  /// The beginning, then the end.
  public mutating func nextEdge() -> TakeEdge? { edges.next() }

  /// All that was heard is settled.
  public var settledFrame: Int { edges.firstFrame ?? receivedFrames }

  /// Ends the stretch where the recording ends, if it would be longer.
  public mutating func finish() {
    guard isBegun, !isEnded else { return }
    isEnded = true
    edges.add(.close(receivedFrames))
  }

  /// Nothing is waited for.
  public var lookaheadFrames: Int { 0 }
}

/// Keeps what comes after a moment that the user chooses, and a little of what came before it.
/// Disk thread only.
public struct StartGate: RecordingGate {
  private let preRollFrames: Int
  private let frames: Int?
  private var receivedFrames = 0
  private var startFrame: Int?
  private var edges = EdgeList()
  private var isEnded = false

  /// Keeps, once started, the `preRollFrames` before that moment and `frames` frames after it: all
  /// that follow where `frames` is nil.
  public init(preRollFrames: Int, frames: Int? = nil) {
    self.preRollFrames = max(0, preRollFrames)
    self.frames = frames.map { max(0, $0) }
  }

  /// Begins to keep: the moment is the end of what was heard so far. Only the first call counts.
  public mutating func start() {
    guard startFrame == nil else { return }
    startFrame = receivedFrames
    edges.add(.open(max(0, receivedFrames - preRollFrames)))
    endIfDue()
  }

  /// Counts the frames; what they sound like does not matter.
  public mutating func process(_ buffer: borrowing SampleBuffer, frames: Int) {
    receivedFrames += frames
    endIfDue()
  }

  /// The beginning, then the end.
  public mutating func nextEdge() -> TakeEdge? { edges.next() }

  /// Until the start, the pre-roll is held back; afterwards, nothing is.
  public var settledFrame: Int {
    edges.firstFrame
      ?? (startFrame == nil ? max(0, receivedFrames - preRollFrames) : receivedFrames)
  }

  /// Ends the stretch where the recording ends, if it has begun and not ended.
  public mutating func finish() {
    guard startFrame != nil, !isEnded else { return }
    isEnded = true
    edges.add(.close(receivedFrames))
  }

  /// The pre-roll.
  public var lookaheadFrames: Int { preRollFrames }

  private mutating func endIfDue() {
    guard let startFrame, let frames, !isEnded, receivedFrames - startFrame >= frames else {
      return
    }
    isEnded = true
    edges.add(.close(startFrame + frames))
  }
}
