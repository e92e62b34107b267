// Audio thread.
import RealtimeAudio
import Synchronization

/// Where a broken PCM is laid down by the audio thread, and the mended one taken up again.
///
/// `state` says which thread owns it; only the owner touches the rest.
struct ReconnectSlot: ~Copyable {
  /// Without an owner; owned by the search, which opens the PCM again; owned by the audio thread,
  /// which takes the PCM back.
  static var empty: Int { @_noLocks get { 0 } }
  static var broken: Int { @_noLocks get { 1 } }
  static var mended: Int { @_noLocks get { 2 } }

  let state = Atomic<Int>(0)
  let isOver = Atomic<Bool>(false)
  var pcm: PCM?
  /// Frames of silence that a mended output starts with.
  var silence = 0
}
