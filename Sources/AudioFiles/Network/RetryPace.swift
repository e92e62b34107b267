/// How long to wait before the next try.
struct RetryPace {
  private let patience: RemoteFilePatience
  private var tries = 0

  init(_ patience: RemoteFilePatience) {
    self.patience = patience
  }

  /// A new byte came.
  mutating func progressed() { tries = 0 }

  /// Seconds to wait before the next try; nil where it is time to give up.
  mutating func next() -> Double? {
    guard tries < patience.tryCount else { return nil }
    tries += 1
    return patience.firstPause * Double(1 << min(tries - 1, 16))
  }
}
