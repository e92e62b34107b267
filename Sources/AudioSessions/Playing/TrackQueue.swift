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
  /// Opened already, to be played when the current one is over.
  private var upcoming: (any FrameSource)?
  /// Why the next source could not be opened.
  private var failure: FileFailure?
  /// Frames that went out.
  private var delivered = 0
  /// Where the first of the tracks that share a converter began.
  private var chainStart = 0
  /// Where tracks end whose last frames are still on their way through the converter of a later one.
  private var boundaries: [Int] = []
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
        guard try openNext() else { return 0 }
        begin(at: delivered)
      }
      let count = try current?.read(into: &buffer, frames: frames) ?? 0
      if count > 0 {
        hasDelivered = true
        deliver(count)
        return count
      }
      if let track = current as? Track, track.isHolding {
        join(track)
      } else {
        completeAll()
        if let failure { throw failure }
        current = upcoming
        upcoming = nil
        if current != nil { begin(at: delivered) }
      }
    }
  }

  /// Opens the next source as the upcoming one, or as the current where there is none.
  private func openNext() throws(FileFailure) -> Bool {
    if next == paths.count, repeats, hasDelivered {
      next = 0
      hasDelivered = false
    }
    guard next < paths.count else { return false }
    let source = try open(paths[next])
    next += 1
    (source as? Track)?.isFollowed = next < paths.count || repeats
    (source as? Track)?.followsSound = delivered > 0
    if current == nil { current = source } else { upcoming = source }
    return true
  }

  /// The current track has ended but for what its converter holds back: the next one takes that over
  /// where it can.
  private func join(_ track: Track) {
    let end = track.endFrame
    do throws(FileFailure) {
      _ = try openNext()
    } catch {
      // What is held back is still heard.
      failure = error
    }
    guard let following = upcoming as? Track, following.adopt(track) else {
      track.release(beforeSound: upcoming != nil)
      return
    }
    boundaries.append(chainStart + end)
    current = following
    upcoming = nil
    begin(at: chainStart + end)
  }

  /// A span begins at `frame` of the queue.
  private func begin(at frame: Int) {
    if boundaries.isEmpty { chainStart = frame }
    // The source is the one before the next to be opened.
    let index = next - 1
    let span = TrackSpan(
      index: index, source: paths[index], startFrame: frame, frames: 0, isComplete: false)
    published.withLock { $0.append(span) }
  }

  /// Frames went out: to the oldest span that is not complete, up to where it ends.
  private func deliver(_ count: Int) {
    var rest = count
    published.withLock { spans in
      while rest > 0 {
        let index = spans.count - 1 - boundaries.count
        guard spans.indices.contains(index) else { return }
        let part = min(rest, boundaries.first.map { $0 - delivered } ?? rest)
        spans[index].frames += part
        delivered += part
        rest -= part
        if boundaries.first == delivered {
          boundaries.removeFirst()
          spans[index].isComplete = true
        }
      }
    }
  }

  private func completeAll() {
    boundaries.removeAll()
    published.withLock { spans in
      for index in spans.indices where !spans[index].isComplete { spans[index].isComplete = true }
    }
  }
}
