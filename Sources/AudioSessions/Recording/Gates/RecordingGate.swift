import AudioBasics

/// The beginning or the end of a segment that is kept.
public enum GateEdge: Sendable, Equatable {
  /// The first frame of a segment that is kept.
  case open(Int)
  /// The first frame that is not kept any more.
  case close(Int)

  /// The captured frame of the edge, counted from 0.
  public var frame: Int {
    switch self {
    case .open(let frame), .close(let frame): frame
    }
  }
}

/// A decision about the segments of a recording that are kept. Disk thread only.
public protocol RecordingGate: Sendable {
  /// Processes the next captured frames: `frames` of `buffer` from `firstFrame` on.
  mutating func process(_ buffer: borrowing SampleBuffer, from firstFrame: Int, frames: Int)

  /// Whether the gate reads samples. If not, and no frames wait for its decision, `buffer` may
  /// contain anything.
  var needsSamples: Bool { get }

  /// Returns the next edge that is decided; nil if there is none. Edges come in order, open and
  /// close alternately, never at an earlier frame than the previous edge.
  mutating func nextEdge() -> GateEdge?

  /// The frame before which no further edge will come: the frames before it can be written (if the
  /// gate is open) or discarded (if it is closed).
  var decidedFrame: Int { get }

  /// Ends the recording: all pending decisions are made. An open segment ends with a last close at
  /// or before its end.
  mutating func finish()

  /// The most frames between `decidedFrame` and the last frame received, provided that every edge
  /// was read.
  var lookaheadFrames: Int { get }

  /// Starts the recording on request of the user. A gate that does not wait ignores it.
  mutating func start()
}

extension RecordingGate {
  /// Default: does nothing.
  public mutating func start() {}

  /// Default: true.
  public var needsSamples: Bool { true }
}

/// The edges that are decided and were not read yet, in order.
struct EdgeList: Sendable {
  private var edges: [GateEdge] = []
  /// The frame of the latest edge; 0 before the first.
  private(set) var lastFrame = 0

  /// Creates an empty list with room for 64 edges.
  init() {
    edges.reserveCapacity(64)
  }

  /// The frame of the next edge to be read.
  var firstFrame: Int? { edges.first?.frame }

  mutating func add(_ edge: GateEdge) {
    edges.append(edge)
    lastFrame = edge.frame
  }

  mutating func next() -> GateEdge? {
    edges.isEmpty ? nil : edges.removeFirst()
  }
}

/// The range of the captured frames that is written to the file.
public struct PunchWindow: Sendable, Equatable {
  /// The first frame.
  public var firstFrame: Int
  /// The length in frames; nil for all that follow.
  public var frames: Int?

  /// Creates the range of `frames` frames from `firstFrame` on; all frames by default.
  public init(firstFrame: Int = 0, frames: Int? = nil) {
    self.firstFrame = firstFrame
    self.frames = frames
  }
}

/// A gate that keeps one segment: either a given window, or the frames after a moment that the user
/// chooses and a short time before it (pre-roll). Disk thread only.
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
  /// A function that moves the window when its first frame has been received.
  private var move: (@Sendable (PunchWindow) -> PunchWindow)?

  /// Keeps the frames within `window`: all frames by default. `move` is called once, when the first
  /// frame of the window has been received, and returns the actual window.
  public init(
    _ window: PunchWindow = PunchWindow(), move: (@Sendable (PunchWindow) -> PunchWindow)? = nil
  ) {
    self.move = move
    preRollFrames = 0
    frames = window.frames.map { max(0, $0) }
    let first = max(0, window.firstFrame)
    firstFrame = first
    endFrame = frames.map { first.clampedSum($0) }
  }

  /// Keeps, once started, the `preRollFrames` frames before that moment and `frames` frames after
  /// it, or all that follow if `frames` is nil.
  public init(preRollFrames: Int, frames: Int? = nil) {
    self.preRollFrames = max(0, preRollFrames)
    self.frames = frames.map { max(0, $0) }
  }

  /// Starts the segment of a gate without a given window, at the end of the frames received so far.
  /// Only the first call counts.
  public mutating func start() {
    guard firstFrame == nil else { return }
    firstFrame = max(0, receivedFrames - preRollFrames)
    endFrame = frames.map { receivedFrames.clampedSum($0) }
    addEdges()
  }

  /// Counts the frames; their samples do not matter. A negative number counts as 0.
  public mutating func process(_ buffer: borrowing SampleBuffer, from first: Int, frames: Int) {
    receivedFrames = receivedFrames.clampedSum(max(0, frames))
    addEdges()
  }

  /// False: the gate only counts frames.
  public var needsSamples: Bool { false }

  /// Returns the beginning, then the end.
  public mutating func nextEdge() -> GateEdge? { edges.next() }

  /// The frames received, less the pre-roll until the start.
  public var decidedFrame: Int {
    edges.firstFrame ?? max(0, receivedFrames - (firstFrame == nil ? preRollFrames : 0))
  }

  /// Ends the segment at the end of the recording, if it has begun and would be longer.
  public mutating func finish() {
    guard hasBegun, !hasEnded else { return }
    hasEnded = true
    edges.add(.close(receivedFrames))
  }

  /// The length of the pre-roll.
  public var lookaheadFrames: Int { preRollFrames }

  private mutating func addEdges() {
    guard let named = firstFrame, !hasEnded else { return }
    if receivedFrames > named, let move {
      let moved = move(PunchWindow(firstFrame: named, frames: frames))
      self.move = nil
      let first = max(0, moved.firstFrame)
      firstFrame = first
      endFrame = moved.frames.map { first.clampedSum(max(0, $0)) }
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
