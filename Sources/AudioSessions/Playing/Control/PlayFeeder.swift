import AudioBasics
import AudioFiles
import RealtimeAudio

/// The disk thread's half of playing: pulls frames from a source and keeps the ring full from which
/// the audio thread's half (`PlayerStage`) takes them.
public final class PlayFeeder: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; what others see is a flag or behind a lock.
  /// Frames that are decoded at a time: some frames of MP3, which are decoded to where they are
  /// wanted then.
  private static let chunkFrames = 4096

  /// A chunk for an empty ring.
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

  /// Feeds `ring` from `source`.
  public init(ring: consuming SampleWriter, source: any FrameSource, channelCount: Int) {
    chunk = Self.chunk(for: ring, channelCount: channelCount)
    self.ring = ring
    self.source = source
    nonFiniteView = nonFinite.makeView()
  }

  /// As that of its source. Any thread.
  public var nonFiniteCount: Int { nonFiniteView.value }

  /// Why the source ended early, where it did. Any thread.
  public var failure: FileFailure? { failed.withLock { $0 } }

  /// Comes to an end at the next step.
  public func conclude() { concluded.raise() }

  /// A disk or a decoder may keep it for ever.
  public var isDispensable: Bool { true }

  /// Fills the ring as far as it goes.
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
