import AudioBasics
import AudioDevices
import RealtimeAudio

/// Reads a capture ring: its frames in order, with silence where frames were lost. Disk thread.
public struct RecordingReader: ~Copyable, Sendable {
  private var ring: SampleReader
  private var gaps: EventReader<TimelineEvent>
  private let captureOrigin: PublishedValueView
  private let captureFirstFrame: PublishedValueView
  private var nextGap: TimelineEvent?
  /// Frames of the present gap that are still to come.
  private var silence = 0

  /// Frames handed out, gaps included.
  private(set) var position = 0
  /// Frames that were captured and found no room in the ring.
  private(set) var overflowFrames = 0

  init(
    ring: consuming SampleReader, gaps: consuming EventReader<TimelineEvent>,
    origin: consuming PublishedValueView,
    firstFrame: consuming PublishedValueView
  ) {
    self.ring = ring
    self.gaps = gaps
    captureOrigin = origin
    captureFirstFrame = firstFrame
  }

  /// When the first frame was captured, as far as is known now, in nanoseconds of the device's
  /// clock.
  var origin: Int { captureOrigin.value }

  /// The first frame on the unit's timeline; nil before it is captured.
  var firstFrame: Int? { captureFirstFrame.value >= 0 ? captureFirstFrame.value : nil }

  /// Whether all there will ever be is there now: ask before `read`.
  var isFinished: Bool { ring.isFinished }

  /// A gap that begins at `position`: asked for until there is none, before each `read`. With
  /// `isLast` those behind the last frame as well.
  mutating func takeGap(isLast: Bool) -> TimelineEvent? {
    guard silence == 0 else { return nil }
    nextGap = nextGap ?? gaps.read()
    guard let gap = nextGap, gap.frame <= ring.frameCount || (isLast && ring.available == 0)
    else { return nil }
    nextGap = nil
    silence = gap.frames
    if gap.kind == .overflow { overflowFrames += gap.frames }
    return gap
  }

  /// Frames that can be read now, as far as is known.
  var available: Int { silence + ring.available }

  /// Whether the next frames were lost: `read` fills in silence for them.
  var isInGap: Bool { silence > 0 }

  /// Whether the ring holds samples of 16 bits: those of a `piece` are its `words`.
  var isSixteenBit: Bool { ring.isSixteenBit }

  /// The ring's memory, in which the frames of a `piece` lie.
  var samples: SampleBuffer { _read { yield ring.samples } }

  /// Where in `samples` the next frames lie, at most `frames` and none of a gap. They stay there
  /// until `skip` hands them back.
  mutating func piece(atMost frames: Int) -> Range<Int> {
    guard silence == 0 else { return 0..<0 }
    return ring.piece(atMost: framesBeforeGap(atMost: frames))
  }

  /// The samples of a `piece` of a ring that `isSixteenBit`.
  @_lifetime(borrow self)
  borrowing func words(of piece: Range<Int>) -> Span<Int16> { ring.words(of: piece) }

  /// Copies the frames of a `piece` to the beginning of `buffer`.
  func copy(_ piece: Range<Int>, into buffer: inout SampleBuffer) {
    ring.copy(piece, into: &buffer)
  }

  /// Hands back the first `frames` frames of a `piece`.
  mutating func skip(_ frames: Int) {
    ring.skip(frames)
    position += frames
  }

  /// Frames in the ring before the next gap, at most `count`.
  private mutating func framesBeforeGap(atMost count: Int) -> Int {
    // What is in the ring first: a gap stands on the list before the frames that follow it.
    let count = min(count, ring.available)
    nextGap = nextGap ?? gaps.read()
    return nextGap.map { min(count, max(0, $0.frame - ring.frameCount)) } ?? count
  }

  /// Fills as many of `frames` frames of `buffer`, from `firstFrame` on, as there are before the
  /// next gap begins or ends; returns how many.
  mutating func read(
    into buffer: inout SampleBuffer, at firstFrame: Int = 0, frames: Int
  ) -> Int {
    let wanted = min(frames, buffer.frameCount - firstFrame)
    var count: Int
    if silence > 0 {
      count = min(wanted, silence)
      buffer.clear(from: firstFrame, frames: count)
      silence -= count
    } else {
      count = framesBeforeGap(atMost: wanted)
      count = ring.read(into: &buffer, at: firstFrame, frames: count)
    }
    position += count
    return count
  }
}
