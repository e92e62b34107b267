import CALSA
import Glibc

/// Settings of alsa-lib that hold for the whole process.
enum ALSALibrary {
  /// Sees that they are made, before the first call to alsa-lib. Any thread.
  static func prepare() {
    _ = once
  }

  private static let once: Void = {
    // One thread drives a PCM, so the mutex around plugins would only cost time on that thread.
    setenv("LIBASOUND_THREAD_SAFE", "0", 1)
    // alsa-lib would print its own diagnosis beside ours.
    duplex_silence_alsa()
  }()
}
