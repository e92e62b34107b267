import AudioBasics
import AudioFiles
import RealtimeAudio

/// The disk thread's half of playing: pulls frames from a source and keeps the ring full from which
/// the audio thread's half (`Player`) takes them.
public final class PlayFeeder: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time steps it; what others see is a flag or behind a lock.
  private var ring: SampleWriter
  private let source: any FrameSource
  private var chunk: SampleBuffer
  private let concluded = Latch()
  private let failed = Guarded<FileFailure?>(nil)

  /// Feeds `ring` from `source`.
  public init(ring: consuming SampleWriter, source: any FrameSource, channelCount: Int) {
    self.ring = ring
    self.source = source
    chunk = SampleBuffer(frameCount: 1024, channelCount: channelCount)
  }

  /// Why the source ended early, where it did. Any thread.
  public var failure: FileFailure? { failed.withLock { $0 } }

  /// Comes to an end at the next step.
  public func conclude() { concluded.raise() }

  /// Fills the ring as far as it goes.
  public func step() -> Bool {
    while !concluded.isRaised {
      let room = ring.room
      guard room >= chunk.frameCount else { return true }
      do throws(FileFailure) {
        let count = try source.read(into: &chunk, frames: chunk.frameCount)
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
