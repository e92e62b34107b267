import AudioBasics

/// Keeps what comes after a moment that somebody chooses, and a little of what came before it.
/// Disk thread only.
public struct StartGate: TakeGate {
  private let preRollFrames: Int
  private let frames: Int?
  private var heard = 0
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
    startFrame = heard
    edges.add(.open(max(0, heard - preRollFrames)))
    endIfDue()
  }

  /// Counts the frames; what they sound like does not matter.
  public mutating func hear(_ buffer: borrowing SampleBuffer, frames: Int) {
    heard += frames
    endIfDue()
  }

  /// The beginning, then the end.
  public mutating func nextEdge() -> TakeEdge? { edges.next() }

  /// Until the start, the pre-roll is held back; afterwards, nothing is.
  public var settledFrame: Int {
    edges.firstFrame ?? (startFrame == nil ? max(0, heard - preRollFrames) : heard)
  }

  /// Ends the stretch where the tape ends, if it has begun and not ended.
  public mutating func finish() {
    guard startFrame != nil, !isEnded else { return }
    isEnded = true
    edges.add(.close(heard))
  }

  /// The pre-roll.
  public var patienceFrames: Int { preRollFrames }

  private mutating func endIfDue() {
    guard let startFrame, let frames, !isEnded, heard - startFrame >= frames else { return }
    isEnded = true
    edges.add(.close(startFrame + frames))
  }
}
