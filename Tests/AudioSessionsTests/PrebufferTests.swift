import AudioBasics
import AudioFiles
import AudioSessions
import Testing

/// Tests of the amount of a network source that a player buffers before it plays or continues.
@Suite struct PrebufferTests {
  private static let rate = 8000

  /// A source of which `speed` seconds of audio arrive in each second of the unit's time. A read
  /// waits for all requested frames, up to 1152, as an MP3 decoder waits for a whole block. The
  /// audio continues during the wait.
  private final class SlowStream: PlainSoundDecoder, @unchecked Sendable {
    // @unchecked because the rig and all that it plays are on one thread.
    let name = "a slow stream"
    let sampleRate = PrebufferTests.rate
    let channelCount = 1
    let frameCount: Int? = nil
    let supportsSeeking = false
    private(set) var position = 0
    private let speed: Double
    private let rig: PlayerRig
    /// The frames played during reads that wait and between them.
    var heard: [Int] = []

    init(speed: Double, _ rig: PlayerRig) {
      self.speed = speed
      self.rig = rig
    }

    private var arrived: Int { Int(clamping: Double(rig.frame) * speed) }

    func isReady(prebuffer seconds: Double?) -> Bool {
      let held = Double(arrived - position) / Double(sampleRate)
      return held >= (seconds ?? 3) || (seconds == nil && held >= 0.5 && speed >= 1.5)
    }

    func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
      let count = min(frames, 1152)
      while arrived < position + count { heard += numbers(rig.hear()) }
      for frame in 0..<count {
        buffer[target + frame] = Float(position + frame + 1) / 8_388_608
      }
      position += count
      return count
    }

    func seek(toFrame frame: Int) {}
  }

  /// Returns the lengths in seconds of the silences in `seconds` of a stream, the first of them
  /// before its first frame.
  private func silences(
    speed: Double, prebuffer: Double? = nil, seconds: Int
  ) throws -> (lengths: [Double], frames: [Int]) {
    let rig = try PlayerRig(
      sampleRate: Self.rate, endsWithQueue: false, prebufferSeconds: prebuffer)
    let stream = SlowStream(speed: speed, rig)
    rig.player.enqueue(QueueItem(QueueItem.Part(name: stream.name) { _ in stream }))
    rig.player.play()
    while stream.heard.count < seconds * Self.rate {
      rig.step()
      stream.heard += numbers(rig.hear())
    }
    var lengths: [Double] = []
    var before = 0
    for frame in stream.heard {
      if frame == -1, before != -1 || lengths.isEmpty { lengths.append(0) }
      if frame == -1 { lengths[lengths.count - 1] += 1 / Double(Self.rate) }
      before = frame
    }
    // The last silence may not be complete.
    if before == -1 { lengths.removeLast() }
    return (lengths, stream.heard.filter { $0 >= 0 })
  }

  @Test
  func `a source slightly too slow is interrupted seldom, and buffers three seconds each time`()
    throws
  {
    let (lengths, frames) = try silences(speed: 15.0 / 16, seconds: 120)
    // Three seconds of audio take 3.2 seconds to arrive and last for 48 seconds; a waiting read
    // adds half a second.
    #expect(lengths.count == 3, "\(lengths)")
    for length in lengths { #expect(3.1...3.8 ~= length, "\(lengths)") }
    #expect(difference(frames, 0..<frames.count) == nil)
  }

  @Test func `a source that is fast enough plays within 0.6 seconds without interruption`() throws {
    let (lengths, frames) = try silences(speed: 1.5, seconds: 20)
    #expect(lengths.count == 1)
    #expect((lengths.first ?? 0) < 0.6)
    #expect(difference(frames, 0..<frames.count) == nil)
  }

  @Test func `a requested prebuffer is filled at the start and after each interruption`() throws {
    let (lengths, frames) = try silences(speed: 0.75, prebuffer: 1, seconds: 40)
    #expect(lengths.count > 5)
    for length in lengths { #expect(1.3...2.1 ~= length, "\(lengths)") }
    #expect(difference(frames, 0..<frames.count) == nil)
  }

  /// A source of which no further frames arrive after the first 40 seconds. A read of frames that
  /// have not arrived is interrupted.
  private final class StalledStream: PlainSoundDecoder, @unchecked Sendable {
    // @unchecked because the rig and all that it plays are on one thread.
    let name = "a stalled stream"
    let sampleRate = PrebufferTests.rate
    let channelCount = 1
    let frameCount: Int? = 100 * PrebufferTests.rate
    let supportsSeeking = true
    let arrived = 40 * PrebufferTests.rate
    private(set) var position = 0
    var isInterrupted: Bool { position >= arrived }

    func isReady(prebuffer seconds: Double?) -> Bool { arrived - position >= 3 * sampleRate }

    func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
      let count = max(0, min(frames, arrived - position))
      for frame in 0..<count {
        buffer[target + frame] = Float(position + frame + 1) / 8_388_608
      }
      position += count
      return count
    }

    func seek(toFrame frame: Int) { position = frame }
  }

  @Test func `a seek to received frames is played although no more data arrives`()
    throws
  {
    let rig = try PlayerRig(sampleRate: Self.rate)
    let stream = StalledStream()
    rig.player.enqueue(QueueItem(QueueItem.Part(name: stream.name) { _ in stream }))
    rig.player.play()
    var heard: [Float] = []
    while heard.count < 100 * Self.rate,
      heard.suffix(Self.rate).contains(where: { $0 != 0 }) || heard.count < Self.rate
    {
      heard += rig.run(cycles: 100)
    }
    let before = numbers(heard).filter { $0 >= 0 }
    #expect(before == Array(0..<stream.arrived))
    try rig.player.seek(toFrame: 0)
    let again = numbers(rig.run(cycles: 250)).filter { $0 >= 0 }
    #expect(again.count > Self.rate && again.starts(with: 0..<Self.rate))
  }
}
