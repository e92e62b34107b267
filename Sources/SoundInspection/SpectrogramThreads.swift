import AudioBasics
import RealtimeAudio

/// Works out a spectrogram on threads of its own, one for each channel that is drawn, while another
/// one reads on and measures.
///
/// Buffers go round: from who fills them to the first channel's thread, from there to the next
/// one's, and back.
final class SpectrogramThreads {
  /// The most threads; further channels are shared among them.
  private static let mostThreads = 2

  /// Frames on their way, and the buffer they are in.
  fileprivate struct Piece: ~Copyable {
    var buffer: SampleBuffer
    var frames = 0
  }

  /// A place where a piece waits for the next thread.
  fileprivate struct Slot: ~Copyable {
    var piece: Piece?
    /// Whether nothing more comes.
    var isOver = false
  }

  fileprivate struct Work: RealtimeWork, ~Copyable, @unchecked Sendable {
    // @unchecked because it moves whole, from the thread that made it to the one that runs it, and
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

  /// Draws the first `drawn` channels of pieces of at most `pieceFrames` frames of `channelCount`
  /// channels, on a picture of `width` columns and `rowCount` rows a channel; `frameCount` frames
  /// are expected. Nil where memory is short. Throws where no thread can be had.
  init?(
    width: Int, frameCount: Int?, rowCount: Int, drawn: Int, channelCount: Int, pieceFrames: Int
  ) throws(ThreadFailure) {
    let count = min(drawn, Self.mostThreads)
    slots = (0...count).map { _ in MutexBox(Slot()) }
    // One for who fills it is there already; one for each thread goes round besides. Before the
    // threads are there, who pass them on at once.
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

  /// Lets the threads end, wherever they are, where a file cannot be read to its end.
  deinit { for slot in slots { slot.end() } }

  /// Takes the first `frames` frames of `buffer`, and leaves another buffer in its place, which
  /// holds anything.
  func add(_ buffer: inout SampleBuffer, frames: Int) {
    guard var piece = slots[slots.count - 1].takePiece() else { return }
    swap(&piece.buffer, &buffer)
    piece.frames = frames
    slots[0].put(piece)
  }

  /// The spectrogram of all that was added. Once.
  func finish() -> Spectrogram? {
    slots[0].end()
    // Pieces that come back are taken, so that no thread waits to give one.
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

/// A thread, in an object, so that there can be several.
private final class SpectrogramThread {
  private var thread: RealtimeThread<SpectrogramThreads.Work>?

  init(_ work: consuming SpectrogramThreads.Work) throws(ThreadFailure) {
    thread = try RealtimeThread(
      name: "duplex-spectra", priority: .normal, stackByteCount: 524_288, work)
  }

  /// The spectrogram of its channels; nil the second time.
  func finish() -> Spectrogram? {
    guard var work = thread.take()?.join() else { return nil }
    return work.columns.finish()
  }
}

extension MutexBox<SpectrogramThreads.Slot> {
  /// The piece in it, when there is one; nil where nothing more comes.
  fileprivate func takePiece() -> SpectrogramThreads.Piece? {
    var taken: SpectrogramThreads.Piece?
    _ = wait { slot -> Bool? in
      taken = slot.piece.take()
      return taken != nil || slot.isOver ? true : nil
    }
    announce()
    return taken
  }

  /// Puts `piece` into it, when it is empty; drops it where nothing more is wanted.
  fileprivate func put(_ piece: consuming SpectrogramThreads.Piece) {
    var given: SpectrogramThreads.Piece? = piece
    _ = wait { slot -> Bool? in
      if slot.isOver { return true }
      guard slot.piece == nil else { return nil }
      slot.piece = given.take()
      return true
    }
    announce()
  }

  /// Nothing more comes.
  fileprivate func end() {
    withLock { $0.isOver = true }
    announce()
  }
}
