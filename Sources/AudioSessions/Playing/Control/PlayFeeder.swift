import AudioBasics
import AudioFiles
import RealtimeAudio

/// The disk thread's part of playback: it reads frames from a source and keeps the ring buffer
/// full, from which the audio thread's part (`PlayerStage`) reads them.
public final class PlayFeeder: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; others read only a flag and locked values.
  /// The number of frames decoded at a time: several frames of MP3, which are then decoded directly
  /// into the destination.
  private static let chunkFrames = 4096

  /// Returns a chunk for an empty ring buffer.
  static func chunk(for ring: borrowing SampleWriter, channelCount: Int) -> SampleBuffer {
    SampleBuffer(
      frameCount: max(1, min(chunkFrames, ring.room / 4)), channelCount: channelCount)
  }

  private var ring: SampleWriter
  private let source: any FrameSource
  private var chunk: SampleBuffer
  private let concluded = AtomicFlag()
  private let failed = MutexBox<FileFailure?>(nil)
  private var nonFinite = PublishedValue()
  private let nonFiniteView: PublishedValueView

  /// Creates a feeder of `ring` from `source`.
  public init(ring: consuming SampleWriter, source: any FrameSource, channelCount: Int) {
    chunk = Self.chunk(for: ring, channelCount: channelCount)
    self.ring = ring
    self.source = source
    nonFiniteView = nonFinite.makeView()
  }

  /// The count of its source. Any thread.
  public var nonFiniteCount: Int { nonFiniteView.value }

  /// The failure that ended the source early; nil if there was none. Any thread.
  public var failure: FileFailure? { failed.withLock { $0 } }

  /// Ends the work at the next step.
  public func conclude() { concluded.raise() }

  /// Dispensable, since a disk or a decoder may block it forever.
  public var workState: BackgroundWorkState { .dispensable }

  /// Fills the ring buffer as far as possible.
  public func step() -> Bool {
    while !concluded.isRaised {
      guard ring.room >= chunk.frameCount else { return true }
      do throws(FileFailure) {
        let count = try source.read(into: &chunk, frames: chunk.frameCount)
        nonFinite.publish(source.nonFiniteCount)
        _ = ring.write(chunk, frames: count)
        guard count == 0 else { continue }
      } catch {
        failed.withLock { $0 = error }
      }
      break
    }
    ring.finish()
    return false
  }
}
