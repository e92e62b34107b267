// Audio thread.

import Synchronization

/// The slot through which the audio thread hands a lost PCM to the search thread, and gets it back
/// when it is open again.
///
/// `state` determines which thread owns the slot. Only the owner accesses `pcm` and `silence`.
struct ReconnectSlot: ~Copyable {
  /// The values of `state`: no owner; owned by the search, which opens the PCM again; owned by the
  /// audio thread, which takes the PCM back.
  static var free: Int { @_noLocks get { 0 } }
  static var lost: Int { @_noLocks get { 1 } }
  static var reopened: Int { @_noLocks get { 2 } }

  let state = Atomic<Int>(0)
  let isOver = Atomic<Bool>(false)
  var pcm: PCM?
  /// The number of frames of silence that a reopened output starts with.
  var silence = 0
}
