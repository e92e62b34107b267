import AudioBasics
import Synchronization

/// The decoder of a remote file. A server may send for ever and have hardly any sound in it: for the
/// first second of sound and for each that follows the player waits no longer than
/// `RemoteFilePatience.sounding` says.
final class RemoteDecoder: SoundDecoder {
  private let file: RemoteFile
  private let decoder: any SoundDecoder
  private let wait: Mutex<SoundWait>

  /// Finds the sound in `file`. Throws as `Decoding.decoder(for:)` and `RemoteFile.probe` do.
  init(_ file: RemoteFile) throws(FileFailure) {
    self.file = file
    let decoder = try file.probe { () throws(FileFailure) in try Decoding.decoder(for: file) }
    self.decoder = decoder
    wait = Mutex(
      SoundWait(
        longest: file.patience.sounding, waited: SteadyClock.now - file.asked,
        sampleRate: decoder.sampleRate))
  }

  var name: String { decoder.name }
  var sampleRate: Int { decoder.sampleRate }
  var channelCount: Int { decoder.channelCount }
  var frameCount: Int? { decoder.frameCount }
  var announcedFrameCount: Int? { decoder.announcedFrameCount }
  var isCutShort: Bool { decoder.isCutShort }
  var supportsSeeking: Bool { decoder.supportsSeeking }
  var position: Int { decoder.position }
  var bitRate: Int? { decoder.bitRate }
  var tags: SoundFileTags { decoder.tags }
  var formatName: String { decoder.formatName }
  var markers: [SoundFileMarker] { decoder.markers }
  var byteSource: (any ByteSource)? { file }
  var announcedTitle: String? { decoder.announcedTitle }

  /// A reader that has waited too long reads on, and gets the error.
  func isReady(prebuffer seconds: Double?) -> Bool {
    let isReady = decoder.isReady(prebuffer: seconds)
    return wait.withLock { $0.look(isReady: isReady, now: SteadyClock.now) } || isReady
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int {
    let count = try waiting { () throws(FileFailure) in
      try decoder.read(into: &buffer, at: target, frames: frames)
    }
    wait.withLock { $0.heard(count) }
    return count
  }

  func seek(toFrame frame: Int) throws(FileFailure) {
    try waiting { () throws(FileFailure) in try decoder.seek(toFrame: frame) }
  }

  private func waiting<Answer>(
    _ read: () throws(FileFailure) -> Answer
  ) throws(FileFailure) -> Answer {
    let began = SteadyClock.now
    defer { wait.withLock { $0.waited(SteadyClock.now - began) } }
    return try file.awaitSound(atMost: wait.withLock { $0.rest }, read)
  }
}

/// How long the player has waited for the second of sound that comes next.
struct SoundWait {
  private let longest: Double
  private let sampleRate: Int
  private var seconds: Double
  /// Frames of the second that have come.
  private var frames = 0
  /// When the player last looked whether there was enough to read on, and there was not.
  private var lastLook: Double?

  /// Seconds that the player waited until there was any sound.
  init(longest: Double, waited seconds: Double, sampleRate: Int) {
    self.longest = longest
    self.sampleRate = sampleRate
    self.seconds = seconds
  }

  /// Seconds for which the wait may still go on.
  var rest: Double { max(0, longest - seconds) }

  /// So long was waited.
  mutating func waited(_ seconds: Double) {
    self.seconds += seconds
    lastLook = nil
  }

  /// The player looks whether there is enough. Whether it has waited too long.
  mutating func look(isReady: Bool, now: Double) -> Bool {
    // At most 0.1 s is counted between two looks: the caller may have paused.
    if let lastLook, !isReady { seconds += min(now - lastLook, 0.1) }
    lastLook = isReady ? nil : now
    return seconds >= longest
  }

  /// That number of frames came.
  mutating func heard(_ count: Int) {
    frames += count
    guard frames >= sampleRate else { return }
    frames = 0
    seconds = 0
  }
}
