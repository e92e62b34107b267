import AudioBasics
import FakePCM
import RealtimeAudio

@testable import AudioDevices

/// A PCM for ALSA's functions that is controlled by the test; see `FakePCM.h`.
typealias FakePCM = UnsafeMutablePointer<fake_pcm>

extension FakePCM {
  static func make() -> FakePCM { fake_pcm_make() }

  var name: String {
    withUnsafePointer(to: pointee.name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 32) { String(cString: $0) }
    }
  }

  /// The samples of its buffer.
  var samples: [Int16] {
    Array(UnsafeBufferPointer(start: pointee.memory, count: pointee.buffer * pointee.channels))
  }

  /// Fills the buffer, so that later writes to it can be recognized.
  func fill(_ sample: (Int) -> Int16) {
    for index in 0..<8192 { pointee.memory[index] = sample(index) }
  }
}

extension DuplexRequest {
  /// Returns a request for 48 kHz and periods of 64 frames on these PCMs.
  static func fake(
    _ capture: FakePCM?, _ playback: FakePCM?, channelCount: Int = 1
  ) -> DuplexRequest {
    var request = DuplexRequest(captureDevice: capture?.name, playbackDevice: playback?.name)
    request.sampleRate = 48000
    request.channelCount = channelCount
    request.format = .s16LE
    request.periodFrames = 64
    return request
  }
}

/// A past time of the host's clock in nanoseconds, for plausible timestamps.
var somePastMoment: Int {
  Int(HostClock.nanoseconds - min(100_000_000_000, HostClock.nanoseconds / 2))
}
