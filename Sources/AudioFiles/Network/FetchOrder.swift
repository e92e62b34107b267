/// What the network thread is to do.
enum FetchOrder: Equatable {
  /// Carry the transfer on.
  case proceed
  /// So much is there that the transfer can pause.
  case pause
  /// Begin a transfer at this byte, instead of any that runs.
  case fetch(Int)
  /// All is there, or no more can be had: end the transfer.
  case rest
}

/// Where the reader and the transfer are, of which an order follows.
struct FetchSituation {
  var bounds = RemoteFileBounds()
  /// The byte the reader wants next.
  var reader = 0
  /// Behind the last byte of the file, where that is known.
  var end: Int?
  /// Whether the server begins where it is told to.
  var hasRanges = false
  /// Whether the first response came.
  var isOpen = false
  /// The byte the transfer brings next; nil where none runs.
  var transfer: Int?
  var isPaused = false

  /// What to do, with `present` here.
  func order(_ present: ByteRanges) -> FetchOrder {
    guard isOpen else { return transfer == nil ? .fetch(0) : .proceed }
    let missing = present.firstGap(from: reader)
    if let end, missing >= end { return .rest }
    // Half of it is read before a transfer that paused goes on: not one packet at a time.
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
