import AudioFiles
import RealtimeAudio

/// Opens the next source of a queue ahead of its turn, on a thread of its own: a network may take its
/// time.
final class SourceOpener: BackgroundWork, @unchecked Sendable {
  // @unchecked because a source changes hands behind the lock, and belongs to one thread at a time.
  private enum State {
    case idle
    case wanted(QueueItem, Opening)
    case opening(Opening)
    case opened(Result<any QueueSource, FileFailure>)
  }

  private let state = Guarded(Transfer(value: .idle))
  private let isConcluded = Latch()
  private let sampleRate: Int
  private let channelCount: Int

  init(sampleRate: Int, channelCount: Int) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Has `item` opened. Whatever was under way before is given up.
  func begin(_ item: QueueItem) {
    giveUp()
    state.withLock { $0.value = .wanted(item, Opening()) }
  }

  /// Whether an item was begun and not yet taken.
  var isBusy: Bool {
    state.withLock { state in
      if case .idle = state.value { return false }
      return true
    }
  }

  /// What came of it; nil while it is under way. What takes no time is done here and now, where
  /// nobody has begun yet.
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
    old?.callOff()
  }

  func step() -> Bool {
    open(onlyAtOnce: false)
    return !isConcluded.isRaised
  }

  func conclude() {
    isConcluded.raise()
    state.withLock { $0.opening }?.callOff()
  }

  /// Opens what is wanted, unless another thread does so already.
  private func open(onlyAtOnce: Bool) {
    let wanted: (QueueItem, Opening)? = state.withLock { state in
      guard case .wanted(let item, let opening) = state.value,
        !onlyAtOnce || !item.parts.contains(where: \.takesTime)
      else { return nil }
      state.value = .opening(opening)
      return (item, opening)
    }
    guard let (item, opening) = wanted else { return }
    var result: Result<any QueueSource, FileFailure>
    do throws(FileFailure) {
      result = .success(
        try item.source(opening, sampleRate: sampleRate, channelCount: channelCount))
    } catch {
      result = .failure(error)
    }
    let opened = Transfer(value: .opened(result))
    // What was given up meanwhile goes as it came.
    state.withLock { if $0.opening === opening { $0 = opened } }
  }

  /// Carries what belongs to one thread at a time through a lock.
  private struct Transfer: @unchecked Sendable {
    // @unchecked because whoever takes it out leaves nothing behind.
    var value: State

    /// What is under way.
    var opening: Opening? {
      switch value {
      case .wanted(_, let opening), .opening(let opening): opening
      case .idle, .opened: nil
      }
    }
  }
}
