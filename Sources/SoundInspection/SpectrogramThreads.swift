import AudioBasics
import RealtimeAudio

/// Computes a spectrogram on separate threads, while the calling thread continues to read and
/// measure. There is one thread for each channel that is drawn, at most `maximumThreads`.
///
/// Buffers circulate: from the caller, which fills them, to the first thread, from there to the
/// next thread, and back to the caller.
final class SpectrogramThreads {
  /// The maximum number of threads; further channels are distributed among them.
  private static let maximumThreads = 2

  /// A buffer, and the number of frames in it.
  fileprivate struct Piece: ~Copyable {
    var buffer: SampleBuffer
    var frames = 0
  }

  /// A slot in which a piece waits for the next thread.
  fileprivate struct Slot: ~Copyable {
    var piece: Piece?
    /// Whether no more pieces will be added.
    var isOver = false
  }

  fileprivate struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because the thread that creates it passes it to the one that runs it, and
    // back.
    var columns: SpectrogramColumns
    let source: MutexBox<Slot>
    let target: MutexBox<Slot>

    mutating func run() {
      while let piece = source.takePiece() {
        columns.add(piece.buffer, frames: piece.frames)
        target.put(piece)
      }
      target.end()
    }
  }

  private let slots: [MutexBox<Slot>]
  private var threads: [SpectrogramThread] = []

  /// Creates a spectrogram of the first `drawn` channels of pieces of at most `pieceFrames` frames
  /// of `channelCount` channels. The image has `width` columns and `rowCount` rows per channel;
  /// `frameCount` frames are expected. Nil if memory is short. Throws a `ThreadFailure` if a thread
  /// cannot be created.
  init?(
    width: Int, frameCount: Int?, rowCount: Int, drawn: Int, channelCount: Int, pieceFrames: Int
  ) throws(ThreadFailure) {
    let count = min(drawn, Self.maximumThreads)
    slots = (0...count).map { _ in MutexBox(Slot()) }
    // The caller already has one buffer; one more per thread circulates. They are put in before the
    // threads start, because the threads pass them on at once.
    for slot in slots.dropFirst() {
      slot.put(
        Piece(buffer: SampleBuffer(frameCount: pieceFrames, channelCount: channelCount)))
    }
    for number in 0..<count {
      let channels = drawn * number / count..<drawn * (number + 1) / count
      guard
        let columns = SpectrogramColumns(
          width: width, frameCount: frameCount, rowCount: rowCount, channels: channels)
      else { return nil }
      threads.append(
        try SpectrogramThread(
          Work(columns: columns, source: slots[number], target: slots[number + 1])))
    }
  }

  /// Ends the threads, also if a file could not be read to its end.
  deinit { for slot in slots { slot.end() } }

  /// Adds the first `frames` frames of `buffer`, and replaces it by another buffer with undefined
  /// content.
  func add(_ buffer: inout SampleBuffer, frames: Int) {
    guard var piece = slots[slots.count - 1].takePiece() else { return }
    swap(&piece.buffer, &buffer)
    piece.frames = frames
    slots[0].put(piece)
  }

  /// Returns the spectrogram of all frames that were added; nil if there are no threads. Call it
  /// once.
  func finish() -> Spectrogram? {
    slots[0].end()
    // Pieces that come back are taken, so that no thread waits for a free slot.
    while slots[slots.count - 1].takePiece() != nil {}
    var whole: Spectrogram?
    for thread in threads {
      guard let part = thread.finish() else { return nil }
      whole = whole?.beside(part) ?? part
    }
    threads = []
    return whole
  }
}

/// A thread in an object, so that an array can contain several.
private final class SpectrogramThread {
  private var thread: RealtimeThread<SpectrogramThreads.Work>?

  init(_ work: consuming SpectrogramThreads.Work) throws(ThreadFailure) {
    thread = try RealtimeThread(
      name: "duplex-spectra", priority: .normal, stackByteCount: 524_288, work)
  }

  /// Waits for the thread and returns the spectrogram of its channels; nil at the second call.
  func finish() -> Spectrogram? {
    guard var work = thread.take()?.join() else { return nil }
    return work.columns.finish()
  }
}

extension MutexBox<SpectrogramThreads.Slot> {
  /// Waits for a piece and takes it; returns nil if no more pieces will be added.
  fileprivate func takePiece() -> SpectrogramThreads.Piece? {
    var taken: SpectrogramThreads.Piece?
    _ = wait { slot -> Bool? in
      taken = slot.piece.take()
      return taken != nil || slot.isOver ? true : nil
    }
    notifyAll()
    return taken
  }

  /// Waits until the slot is empty and puts `piece` into it; drops the piece after `end`.
  fileprivate func put(_ piece: consuming SpectrogramThreads.Piece) {
    var given: SpectrogramThreads.Piece? = piece
    _ = wait { slot -> Bool? in
      if slot.isOver { return true }
      guard slot.piece == nil else { return nil }
      slot.piece = given.take()
      return true
    }
    notifyAll()
  }

  /// Announces that no more pieces will be added.
  fileprivate func end() {
    withLock { $0.isOver = true }
    notifyAll()
  }
}
