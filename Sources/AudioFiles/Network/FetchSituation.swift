/// The next task of the network thread.
enum FetchTask: Equatable {
  /// Continue the transfer.
  case proceed
  /// Pause the transfer, because enough bytes are stored.
  case pause
  /// Start a transfer at this byte, in place of the running one.
  case fetch(Int)
  /// End the transfer, because all bytes are stored or no more can be downloaded.
  case rest
}

/// The positions of the reader and the transfer, which determine the next task.
struct FetchSituation {
  var bounds = RemoteFileBounds()
  /// The offset of the next byte for the reader.
  var reader = 0
  /// The length of the file, if it is known.
  var end: Int?
  /// Whether the server supports ranges.
  var hasRanges = false
  /// Whether the first response was received.
  var isOpen = false
  /// The offset of the next byte of the transfer; nil if none is running.
  var transfer: Int?
  var isPaused = false

  /// Returns the next task. `present` is the set of stored bytes.
  func nextTask(_ present: ByteRanges) -> FetchTask {
    guard isOpen else { return transfer == nil ? .fetch(0) : .proceed }
    let missing = present.firstGap(from: reader)
    if let end, missing >= end { return .rest }
    // A paused transfer resumes after half of the read-ahead was read. Otherwise it would fetch
    // single packets.
    let isResting = isPaused || transfer == nil
    let enough = isResting ? bounds.readAhead / 2 : bounds.readAhead
    guard let transfer else {
      if missing - reader >= max(1, enough) { return .pause }
      return .fetch(hasRanges ? missing : present.end)
    }
    if hasRanges && !(transfer...transfer + bounds.gap).contains(missing) {
      return missing - reader >= max(1, enough) ? .pause : .fetch(missing)
    }
    return missing - reader >= max(1, enough) ? .pause : .proceed
  }
}
