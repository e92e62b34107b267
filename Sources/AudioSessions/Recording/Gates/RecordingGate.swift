import AudioBasics

/// The beginning or the end of a segment that is kept.
public enum GateEdge: Sendable, Equatable {
  /// The first frame of a segment that is kept.
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

/// Decides which segments of a recording are kept. Disk thread only.
public protocol RecordingGate: Sendable {
  /// Takes the next captured frames: `frames` of `buffer` from `firstFrame` on.
  mutating func process(_ buffer: borrowing SampleBuffer, from firstFrame: Int, frames: Int)

  /// Whether it looks at samples: where not, and nothing waits for its decision, `buffer` may hold
  /// anything.
  var looksAtSamples: Bool { get }

  /// The next edge that is decided; nil while there is none. Edges come in order, open and close in
  /// turn, never at an earlier frame than the edge before.
  mutating func nextEdge() -> GateEdge?

  /// No further edge will come at an earlier frame than this: what lies before may be written (if
  /// open) or forgotten (if closed).
  var decidedFrame: Int { get }

  /// The recording is over: what was waited for is decided. An open segment ends with a last close
  /// at or before its end.
  mutating func finish()

  /// The most frames that can lie between `decidedFrame` and what was received, where every edge
  /// was asked for.
  var lookaheadFrames: Int { get }

  /// The user wants what comes from now on. Means nothing to a gate that does not wait.
  mutating func start()
}

extension RecordingGate {
  /// Default: does nothing.
  public mutating func start() {}

  /// Default: true.
  public var looksAtSamples: Bool { true }
}

/// The edges that are decided and were not yet asked for, in order.
struct EdgeList: Sendable {
  private var edges: [GateEdge] = []
  /// Where the latest edge lies; 0 before the first.
  private(set) var lastFrame = 0

  /// An empty list with room for the edges of a long while.
  init() {
    edges.reserveCapacity(64)
  }

  /// The frame of the edge that is asked for next.
  var firstFrame: Int? { edges.first?.frame }

  mutating func add(_ edge: GateEdge) {
    edges.append(edge)
    lastFrame = edge.frame
  }

  mutating func next() -> GateEdge? {
    edges.isEmpty ? nil : edges.removeFirst()
  }
}

/// The range of the captured frames that goes into the file.
public struct PunchWindow: Sendable, Equatable {
  /// Its first frame.
  public var firstFrame: Int
  /// Its length; nil for all that comes.
  public var frames: Int?

  /// The range of `frames` frames from `firstFrame` on; all frames by default.
  public init(firstFrame: Int = 0, frames: Int? = nil) {
    self.firstFrame = firstFrame
    self.frames = frames
  }
}

/// Keeps one segment: a window that was named beforehand, or what follows a moment that the user
/// chooses and a little of what came before it. Disk thread only.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// var settings = RecordingSettings()
/// settings.gate = { _, _ in WindowGate(PunchWindow(firstFrame: 24000, frames: 12000)) }
/// let recording = try await engine.record(to: "verse.wav", settings)
/// try await engine.run(seconds: 1)
/// precondition(recording.report?.frames == 12000)
/// ```
public struct WindowGate: RecordingGate {
  private let preRollFrames: Int
  private let frames: Int?
  /// The first frame that is kept; nil until the start.
  private var firstFrame: Int?
  private var endFrame: Int?
  private var receivedFrames = 0
  private var edges = EdgeList()
  private var hasBegun = false
  private var hasEnded = false
  /// Moves the window when its first frame has come.
  private var move: (@Sendable (PunchWindow) -> PunchWindow)?

  /// Keeps what lies within `window`: all frames by default. `move` is asked once, when its first
  /// frame has come, where it really begins.
  public init(
    _ window: PunchWindow = PunchWindow(), move: (@Sendable (PunchWindow) -> PunchWindow)? = nil
  ) {
    self.move = move
    preRollFrames = 0
    frames = window.frames.map { max(0, $0) }
    let first = max(0, window.firstFrame)
    firstFrame = first
    endFrame = frames.map { Self.end(of: $0, from: first) }
  }

  /// Keeps, once started, the `preRollFrames` before that moment and `frames` frames after it: all
  /// that follow where `frames` is nil.
  public init(preRollFrames: Int, frames: Int? = nil) {
    self.preRollFrames = max(0, preRollFrames)
    self.frames = frames.map { max(0, $0) }
  }

  /// Begins to keep where nothing was named beforehand: the moment is the end of what was received
  /// so far. Only the first call counts.
  public mutating func start() {
    guard firstFrame == nil else { return }
    firstFrame = max(0, receivedFrames - preRollFrames)
    endFrame = frames.map { Self.end(of: $0, from: receivedFrames) }
    addEdges()
  }

  /// Counts the frames; what they sound like does not matter.
  public mutating func process(_ buffer: borrowing SampleBuffer, from first: Int, frames: Int) {
    receivedFrames += frames
    addEdges()
  }

  /// False: frames are counted.
  public var looksAtSamples: Bool { false }

  /// The beginning, then the end.
  public mutating func nextEdge() -> GateEdge? { edges.next() }

  /// Until the start the pre-roll is held back; afterwards nothing is.
  public var decidedFrame: Int {
    edges.firstFrame ?? max(0, receivedFrames - (firstFrame == nil ? preRollFrames : 0))
  }

  /// Ends the segment where the recording ends, if it has begun and would be longer.
  public mutating func finish() {
    guard hasBegun, !hasEnded else { return }
    hasEnded = true
    edges.add(.close(receivedFrames))
  }

  /// The pre-roll.
  public var lookaheadFrames: Int { preRollFrames }

  /// The frame behind `frames` frames from `first` on; the last that can be counted where there are
  /// too many.
  private static func end(of frames: Int, from first: Int) -> Int {
    let (end, isTooLarge) = first.addingReportingOverflow(frames)
    return isTooLarge ? .max : end
  }

  private mutating func addEdges() {
    guard let named = firstFrame, !hasEnded else { return }
    if receivedFrames > named, let move {
      let moved = move(PunchWindow(firstFrame: named, frames: frames))
      self.move = nil
      let first = max(0, moved.firstFrame)
      firstFrame = first
      endFrame = moved.frames.map { Self.end(of: max(0, $0), from: first) }
    }
    guard let firstFrame else { return }
    if !hasBegun, receivedFrames > firstFrame {
      hasBegun = true
      edges.add(.open(firstFrame))
    }
    guard hasBegun, let endFrame, receivedFrames >= endFrame else { return }
    hasEnded = true
    edges.add(.close(endFrame))
  }
}
