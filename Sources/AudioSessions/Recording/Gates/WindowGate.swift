import AudioBasics

/// Keeps one stretch that was named beforehand. Disk thread only.
public struct WindowGate: TakeGate {
  private let firstFrame: Int
  private let endFrame: Int?
  private var heard = 0
  private var edges = EdgeList()
  private var isBegun = false
  private var isEnded = false

  /// Keeps what lies within `window`: all of the tape by default.
  public init(_ window: TakeWindow = TakeWindow()) {
    firstFrame = max(0, window.firstFrame)
    endFrame = window.frames.map { max(0, window.firstFrame) + max(0, $0) }
  }

  /// Counts the frames; what they sound like does not matter.
  public mutating func hear(_ buffer: borrowing SampleBuffer, frames: Int) {
    heard += frames
    if !isBegun && heard > firstFrame {
      isBegun = true
      edges.add(.open(firstFrame))
    }
    guard isBegun, !isEnded, let endFrame, heard >= endFrame else { return }
    isEnded = true
    edges.add(.close(endFrame))
  }

  /// The beginning, then the end.
  public mutating func nextEdge() -> TakeEdge? { edges.next() }

  /// All that was heard is settled.
  public var settledFrame: Int { edges.firstFrame ?? heard }

  /// Ends the stretch where the tape ends, if it was longer than the tape.
  public mutating func finish() {
    guard isBegun, !isEnded else { return }
    isEnded = true
    edges.add(.close(heard))
  }

  /// Nothing is waited for.
  public var patienceFrames: Int { 0 }
}
