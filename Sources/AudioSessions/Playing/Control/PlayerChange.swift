/// What is asked of a player's queue, on the thread that feeds.
enum PlayerChange: Sendable {
  /// Has what is heard go on differently: alters its settings and its place, a boundary of its file.
  case edit(@Sendable (inout TrackSettings, inout Double, any QueueSource) -> Void)
  /// Anything else. Given the frame of the queue from which on something else can be heard; answers
  /// whether it is.
  case work(@Sendable (PlayQueue, Int) -> Bool)
}
