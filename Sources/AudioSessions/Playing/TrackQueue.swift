import AudioBasics
import AudioFiles
import Synchronization

/// Where a track lies in what a queue has delivered so far.
public struct TrackSpan: Sendable, Equatable {
  /// Its place in the queue.
  public var index: Int
  /// What it is called.
  public var source: String
  /// Its first frame, counted from the queue's first.
  public var startFrame: Int
  /// Frames delivered so far.
  public var frames: Int
  /// Whether these are all of them.
  public var isComplete: Bool
}

/// Tracks one after the other, without a gap. Each is opened when its turn comes.
public final class TrackQueue: FrameSource, @unchecked Sendable {
  // @unchecked because one thread at a time reads from it; what others see is behind a lock.
  private let paths: [String]
  private let repeats: Bool
  private let open: @Sendable (String) throws(FileFailure) -> any FrameSource
  private var current: (any FrameSource)?
  private var next = 0
  /// Whether anything came of this time through: a queue of nothing repeats nothing.
  private var hasDelivered = false
  private let published = Mutex<[TrackSpan]>([])

  /// A queue of `paths`, each opened by `open`; begun anew at its end where it `repeats`.
  public init(
    paths: [String], repeats: Bool = false,
    open: @escaping @Sendable (String) throws(FileFailure) -> any FrameSource
  ) {
    self.paths = paths
    self.repeats = repeats
    self.open = open
  }

  /// What was delivered so far, a span a track. Any thread.
  public var spans: [TrackSpan] { published.withLock { $0 } }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    while true {
      if current == nil {
        if next == paths.count, repeats, hasDelivered {
          next = 0
          hasDelivered = false
        }
        guard next < paths.count else { return 0 }
        current = try open(paths[next])
        begin()
      }
      let count = try current?.read(into: &buffer, frames: frames) ?? 0
      deliver(count)
      if count > 0 {
        hasDelivered = true
        return count
      }
      current = nil
      next += 1
    }
  }

  private func begin() {
    let span = TrackSpan(
      index: next, source: paths[next],
      startFrame: spans.last.map { $0.startFrame + $0.frames } ?? 0,
      frames: 0, isComplete: false)
    published.withLock { $0.append(span) }
  }

  private func deliver(_ count: Int) {
    published.withLock { spans in
      guard let last = spans.indices.last else { return }
      spans[last].frames += count
      spans[last].isComplete = count == 0
    }
  }
}
