import AudioFiles
import RealtimeAudio

/// Opens the next source of a queue ahead of its turn, on a thread of its own: a network may take
/// its time.
final class SourceOpener: BackgroundWork, @unchecked Sendable {
  // @unchecked because a source changes hands behind the lock, and belongs to one thread at a time.
  private enum State {
    case idle
    case wanted(QueueItem, Entry?, CancellableOpening)
    case opening(CancellableOpening)
    case opened(Result<any QueueSource, FileFailure>)
  }

  /// The settings and the position with which a source goes on.
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

  /// Has `item` opened. Whatever was under way before is given up.
  func begin(_ item: QueueItem) { begin(item, nil) }

  /// Has what was heard in part opened, to go on where it was.
  func begin(_ resumption: QueueResumption) {
    begin(
      resumption.item,
      Entry(settings: resumption.span.settings, boundary: resumption.boundary))
  }

  private func begin(_ item: QueueItem, _ entry: Entry?) {
    giveUp()
    state.withLock { $0.value = .wanted(item, entry, CancellableOpening()) }
  }

  /// Whether an item was begun and not yet taken.
  var isBusy: Bool {
    state.withLock { state in
      if case .idle = state.value { return false }
      return true
    }
  }

  /// The opened source, or why it failed; nil while it is being opened. A source that opens at once
  /// is opened on this thread where the opener has not begun.
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

  /// Lets go of whatever is under way.
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

  /// A server or a disk may keep it for ever.
  var isDispensable: Bool { true }

  func conclude() {
    isConcluded.raise()
    state.withLock { $0.opening }?.cancel()
  }

  /// Opens what is wanted, unless another thread does so already.
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
      // What cannot be sought was told before where it goes on.
      if let entry, source.decoders.allSatisfy(\.supportsSeeking) {
        try source.begin(entry.settings, at: entry.boundary)
      }
      result = .success(source)
    } catch {
      result = .failure(error)
    }
    let opened = Transfer(value: .opened(result))
    // What was given up meanwhile goes as it came.
    state.withLock { if $0.opening === opening { $0 = opened } }
  }

  /// Carries what belongs to one thread at a time through a lock.
  private struct Transfer: @unchecked Sendable {
    // @unchecked because the taker leaves nothing behind.
    var value: State

    /// What is under way.
    var opening: CancellableOpening? {
      switch value {
      case .wanted(_, _, let opening), .opening(let opening): opening
      case .idle, .opened: nil
      }
    }
  }
}

/// One opening of a source on its way: what waits for a network meanwhile can be cancelled.
public final class CancellableOpening: Sendable {
  private struct State {
    var isCancelled = false
    var interruptions: [@Sendable () -> Void] = []
  }

  private let state = MutexBox(State())

  /// An opening that goes on.
  public init() {}

  /// Whether it is cancelled. Any thread.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Has `interrupt` called when it is cancelled, or at once if it is already.
  public func onCancel(_ interrupt: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isCancelled { state.interruptions.append(interrupt) }
      return state.isCancelled
    }
    if isLate { interrupt() }
  }

  /// Ends the waiting. Any thread.
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
  /// Seconds of sound that are fetched ahead of a reader: half of it outlasts a connection that
  /// stalls.
  private static let aheadSeconds = 30
  /// Bits a second of 32 channels at 192 kHz: what claims more is not fetched further ahead.
  private static let highestBitRate = 32 * 192_000 * 32

  /// Opens what is behind an http or https address, as far as its first frames. Throws as
  /// `RemoteFile` and `Decoding.decoder(of:)` do, and where it is cancelled.
  public func decoder(ofAddress address: String) throws(FileFailure) -> any SoundDecoder {
    try decoder(of: try file(ofAddress: address))
  }

  /// The bytes behind an http or https address. Throws as `RemoteFile` does, and where it is called
  /// off.
  public func file(ofAddress address: String) throws(FileFailure) -> RemoteFile {
    var bounds = RemoteFileBounds()
    // It is not known yet where it is to be read.
    bounds.readAhead = bounds.firstRequest
    let file = try RemoteFile(address: address, bounds: bounds, whileWaiting: onCancel)
    onCancel { [weak file] in file?.interrupt() }
    return file
  }

  /// Opens a file that `file(ofAddress:)` gave, as far as its first frames. Throws as
  /// `Decoding.decoder(of:)` does.
  public func decoder(of file: RemoteFile) throws(FileFailure) -> any SoundDecoder {
    let decoder = try Decoding.decoder(of: file)
    let bitRate = min(decoder.bitRate ?? file.announcedBitRate ?? 128_000, Self.highestBitRate)
    file.readAheadByteCount = max(file.readAheadByteCount, Self.aheadSeconds * bitRate / 8)
    return decoder
  }
}
