/// The buffering of the current source of a queue before it plays, and after it was too slow.
struct Prebuffering {
  /// The duration in seconds that must be buffered of a network source; nil for 3 s, or less if the
  /// network is fast.
  let seconds: Double?
  /// Whether the source must buffer some frames first.
  var isActive = false

  init(seconds: Double?) { self.seconds = seconds }

  /// Begins with a source, which buffers unless it is ready to play.
  mutating func begin(_ source: any QueueSource) {
    isActive = !source.isReady(prebuffer: seconds)
  }

  /// Returns whether `source` must still buffer. Once it need not, the buffering is over.
  mutating func isNeeded(by source: any QueueSource) -> Bool {
    if isActive { isActive = !source.isReadable(prebuffer: seconds) }
    return isActive
  }
}
