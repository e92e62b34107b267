import AudioBasics
import RealtimeAudio

/// The decoder of a remote file. A server may send data forever that contains hardly any audio, so
/// the wait for each second of audio is limited to `RemoteFileTimeouts.audioTimeout`.
final class RemoteDecoder: ForwardingDecoder {
  private let file: RemoteFile
  let decoder: any SoundDecoder
  private let wait: MutexBox<SoundWait>

  /// Opens the audio in `file`. Throws the same errors as `Decoding.decoder(for:)` and
  /// `RemoteFile.probe`.
  init(_ file: RemoteFile) throws(FileFailure) {
    self.file = file
    let decoder = try file.probe { () throws(FileFailure) in try Decoding.decoder(for: file) }
    self.decoder = decoder
    wait = MutexBox(
      SoundWait(
        maximumSeconds: file.timeouts.audioTimeout, waited: HostClock.seconds - file.requestTime,
        sampleRate: decoder.sampleRate))
  }

  /// Returns true also if the limit is exceeded: the next read then throws the error.
  func isReady(prebuffer seconds: Double?) -> Bool {
    let isReady = decoder.isReady(prebuffer: seconds)
    return wait.withLock { $0.poll(isReady: isReady, now: HostClock.seconds) } || isReady
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    let count = try waiting { () throws(FileFailure) in
      try decoder.read(into: &buffer, at: target, frames: frames)
    }
    wait.withLock { $0.received(count) }
    return count
  }

  func seek(toFrame frame: Int) throws(FileFailure) {
    try waiting { () throws(FileFailure) in try decoder.seek(toFrame: frame) }
  }

  private func waiting<Answer>(
    _ read: () throws(FileFailure) -> Answer
  ) throws(FileFailure) -> Answer {
    let began = HostClock.seconds
    defer { wait.withLock { $0.waited(HostClock.seconds - began) } }
    return try file.awaitSound(atMost: wait.withLock { $0.rest }, read)
  }
}

/// The time spent waiting for the next second of audio, and its limit.
struct SoundWait {
  private let maximumSeconds: Double
  private let sampleRate: Int
  private var seconds: Double
  /// The number of frames of the current second that were received.
  private var frames = 0
  /// The time of the last poll at which too little audio was buffered; nil if there is none.
  private var lastPoll: Double?

  /// Starts with the number of seconds already spent waiting for the first audio.
  init(maximumSeconds: Double, waited seconds: Double, sampleRate: Int) {
    self.maximumSeconds = maximumSeconds
    self.sampleRate = sampleRate
    self.seconds = seconds
  }

  /// The number of seconds left until the limit.
  var rest: Double { max(0, maximumSeconds - seconds) }

  /// Adds `seconds` of waiting.
  mutating func waited(_ seconds: Double) {
    self.seconds += seconds
    lastPoll = nil
  }

  /// Records a poll by the player, at which enough audio was buffered if `isReady` is true. Returns
  /// whether the limit is reached.
  mutating func poll(isReady: Bool, now: Double) -> Bool {
    // At most 0.1 s is counted between two polls, because the caller may have been paused.
    if let lastPoll, !isReady { seconds += min(now - lastPoll, 0.1) }
    lastPoll = isReady ? nil : now
    return seconds >= maximumSeconds
  }

  /// Records that `count` frames were received.
  mutating func received(_ count: Int) {
    frames += count
    guard frames >= sampleRate else { return }
    frames = 0
    seconds = 0
  }
}
