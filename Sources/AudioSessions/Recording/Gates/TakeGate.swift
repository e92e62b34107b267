import AudioBasics

/// Where what is kept of a tape begins or ends: a frame of the tape.
public enum TakeEdge: Sendable, Equatable {
  /// The first frame of a stretch that is kept.
  case open(Int)
  /// The first frame that is not kept any more.
  case close(Int)

  /// The frame of the tape at which it lies.
  public var frame: Int {
    switch self {
    case .open(let frame), .close(let frame): frame
    }
  }
}

/// Decides which stretches of a tape are kept. Disk thread only.
public protocol TakeGate: Sendable {
  /// Hears the tape's next frames: the first `frames` of `buffer`.
  mutating func hear(_ buffer: borrowing SampleBuffer, frames: Int)

  /// The next edge that is settled; nil while there is none. Edges come in order, open and close in
  /// turn, never at an earlier frame than the edge before.
  mutating func nextEdge() -> TakeEdge?

  /// No further edge will come at an earlier frame than this: what lies before may be written (if
  /// open) or forgotten (if closed).
  var settledFrame: Int { get }

  /// The tape is over: what was waited for is decided. An open stretch ends with a last close at or
  /// before the tape's end.
  mutating func finish()

  /// The most frames that can lie between `settledFrame` and what was heard, where every edge was
  /// asked for.
  var patienceFrames: Int { get }

  /// Somebody wants what comes from now on. Means nothing to a gate that waits for nobody.
  mutating func start()
}

extension TakeGate {
  /// Nothing.
  public mutating func start() {}
}
