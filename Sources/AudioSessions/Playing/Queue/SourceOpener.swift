import AudioFiles
import RealtimeAudio

/// The opening of the next source of a queue ahead of its turn, on a separate thread: a network may
/// be slow.
final class SourceOpener: BackgroundWork, @unchecked Sendable {
  // @unchecked because one thread at a time owns a source, and passes it on under the lock.
  private enum State {
    case idle
    case wanted(QueueItem, Entry?, CancellableOpening)
    case opening(CancellableOpening)
    case opened(Result<any QueueSource, FileFailure>)
  }

  /// The settings and the position at which a source continues.
  private struct Entry {
    let settings: TrackSettings
    let boundary: Double
  }

  private let state = MutexBox(Transfer(value: .idle))
  private let isConcluded = AtomicFlag()
  let sampleRate: Int
  let channelCount: Int

  init(sampleRate: Int, channelCount: Int) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Starts to open `item`. Abandons any opening in progress.
  func begin(_ item: QueueItem) { begin(item, nil) }

  /// Starts to open a source that was played in part, to continue at its position.
  func begin(_ resumption: QueueResumption) {
    begin(
      resumption.item,
      Entry(settings: resumption.span.settings, boundary: resumption.boundary))
  }

  private func begin(_ item: QueueItem, _ entry: Entry?) {
    giveUp()
    state.withLock { $0.value = .wanted(item, entry, CancellableOpening()) }
  }

  /// Whether an item was requested and its result has not been taken yet.
  var isBusy: Bool {
    state.withLock { state in
      if case .idle = state.value { return false }
      return true
    }
  }

  /// Returns the opened source or its failure; nil while it is being opened. A source that opens at
  /// once is opened on this thread if the opener has not begun.
  func take() -> Result<any QueueSource, FileFailure>? {
    open(onlyAtOnce: true)
    let opened: Transfer = state.withLock { state in
      guard case .opened = state.value else { return Transfer(value: .idle) }
      defer { state.value = .idle }
      return state
    }
    if case .opened(let result) = opened.value { return result }
    return nil
  }

  /// Abandons the current opening.
  func giveUp() {
    let old = state.withLock { state in
      defer { state.value = .idle }
      return state.opening
    }
    old?.cancel()
  }

  func step() -> Bool {
    open(onlyAtOnce: false)
    return !isConcluded.isRaised
  }

  /// Dispensable, since a server or a disk may block it forever.
  var workState: BackgroundWorkState { .dispensable }

  func conclude() {
    isConcluded.raise()
    state.withLock { $0.opening }?.cancel()
  }

  /// Opens the requested source, unless another thread already does.
  private func open(onlyAtOnce: Bool) {
    let wanted: (QueueItem, Entry?, CancellableOpening)? = state.withLock { state in
      guard case .wanted(let item, let entry, let opening) = state.value,
        !onlyAtOnce || !item.parts.contains(where: \.takesTime)
      else { return nil }
      state.value = .opening(opening)
      return (item, entry, opening)
    }
    guard let (item, entry, opening) = wanted else { return }
    var result: Result<any QueueSource, FileFailure>
    do throws(FileFailure) {
      let source = try item.source(
        opening, sampleRate: sampleRate, channelCount: channelCount)
      // A source that cannot seek received its position before.
      if let entry, source.decoders.allSatisfy(\.supportsSeeking) {
        try source.begin(entry.settings, at: entry.boundary)
      }
      result = .success(source)
    } catch {
      result = .failure(error)
    }
    let opened = Transfer(value: .opened(result))
    // The result of an abandoned opening is dropped.
    state.withLock { if $0.opening === opening { $0 = opened } }
  }

  /// A container that transfers a value that belongs to one thread at a time through a lock.
  private struct Transfer: @unchecked Sendable {
    // @unchecked because the caller that takes the value removes it from the container.
    var value: State

    /// The opening in progress.
    var opening: CancellableOpening? {
      switch value {
      case .wanted(_, _, let opening), .opening(let opening): opening
      case .idle, .opened: nil
      }
    }
  }
}

/// One opening of a source: waits for a network during the opening can be cancelled.
public final class CancellableOpening: Sendable {
  private struct State {
    var isCancelled = false
    var interruptions: [@Sendable () -> Void] = []
  }

  private let state = MutexBox(State())

  /// Creates an opening that is not cancelled.
  public init() {}

  /// Whether the opening is cancelled. Any thread.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Calls `interrupt` when the opening is cancelled, or at once if it already is.
  public func onCancel(_ interrupt: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isCancelled { state.interruptions.append(interrupt) }
      return state.isCancelled
    }
    if isLate { interrupt() }
  }

  /// Cancels the opening and ends its waits. Any thread.
  public func cancel() {
    let interruptions = state.withLock { state in
      state.isCancelled = true
      defer { state.interruptions = [] }
      return state.interruptions
    }
    for interrupt in interruptions { interrupt() }
  }
}

extension CancellableOpening {
  /// The duration in seconds that is fetched ahead of a reader: half of it outlasts a stalled
  /// connection.
  private static let aheadSeconds = 30
  /// The bit rate of 32 channels at 192 kHz in bits per second: for a higher stated rate no more is
  /// fetched ahead.
  private static let highestBitRate = 32 * 192_000 * 32

  /// Opens the source at an http or https address, up to its first frames. Throws as `RemoteFile`
  /// and `Decoding.decoder(of:)` do, and if it is cancelled.
  public func decoder(ofAddress address: String) throws(FileFailure) -> any SoundDecoder {
    try decoder(of: try file(ofAddress: address))
  }

  /// Returns the bytes at an http or https address. Throws as `RemoteFile` does, and if it is
  /// cancelled.
  public func file(ofAddress address: String) throws(FileFailure) -> RemoteFile {
    var bounds = RemoteFileBounds()
    // The position of the first read is not known yet.
    bounds.readAhead = bounds.firstRequest
    let file = try RemoteFile(address: address, bounds: bounds, whileWaiting: onCancel)
    onCancel { [weak file] in file?.interrupt() }
    return file
  }

  /// Opens a file returned by `file(ofAddress:)`, up to its first frames. Throws as
  /// `Decoding.decoder(of:)` does.
  public func decoder(of file: RemoteFile) throws(FileFailure) -> any SoundDecoder {
    let decoder = try Decoding.decoder(of: file)
    let bitRate = min(decoder.bitRate ?? file.announcedBitRate ?? 128_000, Self.highestBitRate)
    file.readAheadByteCount = max(file.readAheadByteCount, Self.aheadSeconds * bitRate / 8)
    return decoder
  }
}
