import CALSA
import Glibc

/// The settings of alsa-lib that apply to the whole process.
enum ALSALibrary {
  /// Applies the settings once, before the first call to alsa-lib. Any thread.
  static func prepare() {
    _ = once
  }

  private static let once: Void = {
    // One thread uses a PCM, so the mutex around plugins would only cost time on that thread.
    setenv("LIBASOUND_THREAD_SAFE", "0", 1)
    // alsa-lib would otherwise print its own diagnosis in addition to the failure that is thrown.
    duplex_silence_alsa()
  }()
}
