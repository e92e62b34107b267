import AudioBasics
import RealtimeAudio

/// Works out a spectrogram on a thread of its own, while another one reads on and measures.
///
/// Two buffers go to and fro: one is filled while the other is transformed.
final class SpectrogramThread {
  /// Frames on their way, and the buffer they are in.
  fileprivate struct Piece: ~Copyable {
    var buffer: SampleBuffer
    let frames: Int
  }

  fileprivate struct Buffers: ~Copyable {
    /// What is to be transformed.
    var full: Piece?
    /// What may be filled.
    var empty: SampleBuffer?
    /// Whether nothing more comes.
    var isOver = false
  }

  fileprivate struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from the thread that made it to the one that runs it, and back.
    var columns: SpectrogramColumns
    let buffers: MutexBox<Buffers>

    mutating func run() {
      while true {
        let next = buffers.wait { buffers -> Piece?? in
          if let piece = buffers.full.take() { return .some(piece) }
          return buffers.isOver ? .some(nil) : nil
        }
        guard let piece = next else { return }
        columns.add(piece.buffer, frames: piece.frames)
        var buffer: SampleBuffer? = piece.buffer
        buffers.withLock { $0.empty = buffer.take() }
        buffers.announce()
      }
    }
  }

  private let buffers: MutexBox<Buffers>
  private var thread: RealtimeThread<Work>?

  /// Works out `columns` of pieces of at most `frameCount` frames. Throws where no thread can be had.
  init(
    _ columns: consuming SpectrogramColumns, frameCount: Int, channelCount: Int
  ) throws(ThreadFailure) {
    let buffers = MutexBox(
      Buffers(empty: SampleBuffer(frameCount: frameCount, channelCount: channelCount)))
    self.buffers = buffers
    thread = try RealtimeThread(
      name: "duplex-spectra", priority: .normal, stackByteCount: 524_288,
      Work(columns: columns, buffers: buffers))
  }

  deinit { end() }

  /// Takes the first `frames` frames of `buffer`, and leaves another buffer in its place, which holds anything.
  func add(_ buffer: inout SampleBuffer, frames: Int) {
    var given = buffers.wait { $0.empty.take() }
    swap(&given, &buffer)
    var piece: Piece? = Piece(buffer: given, frames: frames)
    buffers.withLock { $0.full = piece.take() }
    buffers.announce()
  }

  /// The spectrogram of all that was added; nil the second time.
  func finish() -> Spectrogram? {
    end()
    guard var work = thread.take()?.join() else { return nil }
    return work.columns.finish()
  }

  private func end() {
    buffers.withLock { $0.isOver = true }
    buffers.announce()
  }
}
