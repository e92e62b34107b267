import AudioBasics
import AudioDevices
import RealtimeAudio

/// The reader of a capture ring: its frames in order, with silence in place of lost frames. Disk
/// thread.
public struct RecordingReader: ~Copyable, Sendable {
  private var ring: SampleReader
  private var gaps: EventReader<TimelineEvent>
  private let captureOrigin: PublishedValueView
  private let captureFirstFrame: PublishedValueView
  private var nextGap: TimelineEvent?
  /// The remaining frames of the present gap.
  private var silence = 0

  /// The number of frames returned, including gaps.
  private(set) var position = 0
  /// The number of captured frames that did not fit into the ring.
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

  /// The time at which the first frame was captured, as far as it is known now, in nanoseconds of
  /// the device's clock.
  var origin: Int { captureOrigin.value }

  /// The first frame on the unit's timeline; nil before it is captured.
  var firstFrame: Int? { captureFirstFrame.value >= 0 ? captureFirstFrame.value : nil }

  /// Whether no frames will be added to the ring. Read this before calling `read`.
  var isFinished: Bool { ring.isFinished }

  /// Returns a gap that begins at `position`, or nil. Call it before each `read` until it returns
  /// nil. With `isLast` it also returns gaps after the last frame.
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

  /// The number of frames that can be read now, as far as is known.
  var available: Int { silence + ring.available }

  /// Whether the next frames were lost: `read` fills in silence for them.
  var isInGap: Bool { silence > 0 }

  /// Whether the ring holds 16-bit samples: `integers` returns those of a `piece`.
  var isSixteenBit: Bool { ring.isSixteenBit }

  /// The ring's memory, which contains the frames of a `piece`.
  var samples: SampleBuffer { _read { yield ring.samples } }

  /// Returns the place of the next frames in `samples`: at most `frames`, and none of a gap. They
  /// stay there until `skip` releases them.
  mutating func piece(atMost frames: Int) -> Range<Int> {
    guard silence == 0 else { return 0..<0 }
    return ring.piece(atMost: framesBeforeGap(atMost: frames))
  }

  /// Returns the samples of a `piece` of a ring that `isSixteenBit`.
  @_lifetime(borrow self)
  borrowing func integers(of piece: Range<Int>) -> Span<Int16> { ring.integers(of: piece) }

  /// Copies the frames of a `piece` to the beginning of `buffer`.
  func copy(_ piece: Range<Int>, into buffer: inout SampleBuffer) {
    ring.copy(piece, into: &buffer)
  }

  /// Releases the first `frames` frames of a `piece`.
  mutating func skip(_ frames: Int) {
    ring.skip(frames)
    position += frames
  }

  /// Returns the number of frames in the ring before the next gap, at most `count`.
  private mutating func framesBeforeGap(atMost count: Int) -> Int {
    // The ring is read first: a gap is in the list before the frames that follow it.
    let count = min(count, ring.available)
    nextGap = nextGap ?? gaps.read()
    return nextGap.map { min(count, max(0, $0.frame - ring.frameCount)) } ?? count
  }

  /// Reads frames into `buffer` from `firstFrame` on: at most `frames`, up to the beginning or end
  /// of the next gap; returns their number.
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
