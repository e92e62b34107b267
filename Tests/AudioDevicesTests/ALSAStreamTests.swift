import AudioBasics
import FakePCM
import Glibc
import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of one direction of an ALSA device, on a fake PCM whose return values the test chooses.
@Suite struct ALSAStreamTests {
  /// A stream as a copyable class, whose results can be used in `#expect`.
  private final class Stream {
    private var stream: ALSAStream

    init(_ pcm: consuming PCM, _ request: DuplexRequest) {
      stream = ALSAStream(pcm, request: request)
    }

    func start(silence: Int) throws { try stream.start(silence: silence, at: 0) }
    func look() -> StreamState { stream.readState(at: 0) }
    func frames(_ frames: Int) -> DeviceFrames? { stream.frames(frames, at: 0) }
    func commit(_ frames: Int) -> Bool { stream.commit(frames) }
    func enableReconnection(reportingTo news: MutexBox<DeviceReturn?>) -> Bool {
      stream.enableReconnection(reportingTo: news)
    }
    func detach(silence: Int) { stream.detach(silence: silence) }
    func reattach() -> Int? { stream.reattach(at: 0) }
    func stop() { stream.stop() }
  }

  private func input(_ fake: FakePCM, channelCount: Int = 1) throws -> Stream {
    let request = DuplexRequest.fake(fake, nil, channelCount: channelCount)
    return Stream(try PCM.opening(request, .capture), request)
  }

  private func output(_ fake: FakePCM, channelCount: Int = 1) throws -> Stream {
    let request = DuplexRequest.fake(nil, fake, channelCount: channelCount)
    return Stream(try PCM.opening(request, .playback), request)
  }

  private func reading(_ state: StreamState) -> (frames: Int, nanoseconds: UInt64, available: Int)?
  {
    guard case .running(let reading, let available) = state else { return nil }
    return (reading.frames, reading.nanoseconds, available)
  }

  @Test func `an output starts with silence and reports the played frames`() throws {
    let fake = FakePCM.make()
    let stream = try output(fake)
    fake.fill { _ in 7 }
    try stream.start(silence: 200)
    #expect(fake.pointee.application == 200 && fake.pointee.started == 1)
    #expect(fake.samples[..<200].allSatisfy { $0 == 0 } && fake.samples[200] == 7)
    #expect(reading(stream.look())?.frames == 0)
    fake.pointee.hardware = 50
    let found = try #require(reading(stream.look()))
    #expect(found.frames == 50 && found.available == fake.pointee.buffer - 150)
  }

  @Test func `an output that accepts less than the initial silence is refused`() throws {
    let fake = FakePCM.make()
    fake.pointee.buffer = 100
    let stream = try output(fake)
    let failure = #expect(throws: DeviceFailure.self) { try stream.start(silence: 200) }
    #expect(failure?.message.contains("took 64 of 200 frames") == true)
    #expect(fake.pointee.started == 0)
  }

  @Test(arguments: [0, 2])
  func `a suspended device is resumed before it is restarted`(slowly: Int32) throws {
    let fake = FakePCM.make()
    let stream = try output(fake)
    fake.pointee.is_suspended = true
    fake.pointee.slow_resumes = slowly
    try stream.start(silence: 10)
    #expect(
      fake.pointee.resumed == slowly + 1 && fake.pointee.started == 1
        && fake.pointee.application == 10)
  }

  @Test func `an input counts captured frames whether they were read or not`() throws {
    let fake = FakePCM.make()
    let stream = try input(fake)
    try stream.start(silence: 0)
    fake.pointee.hardware = 100
    #expect(reading(stream.look())?.frames == 100)
    #expect(stream.frames(64) != nil)
    #expect(stream.commit(64))
    fake.pointee.hardware = 130
    let found = try #require(reading(stream.look()))
    #expect(found.frames == 130 && found.available == 66)
    try stream.start(silence: 0)
    #expect(reading(stream.look())?.frames == 0)
  }

  @Test func `the position is queried from the kernel and not from the mapped page`() throws {
    let fake = FakePCM.make()
    let stream = try input(fake)
    try stream.start(silence: 0)
    fake.pointee.hardware = 100
    fake.pointee.stale = 60
    #expect(reading(stream.look())?.available == 100)
  }

  @Test func `the time of a reading is the driver's timestamp`() throws {
    let fake = FakePCM.make()
    let stream = try input(fake)
    try stream.start(silence: 0)
    fake.pointee.stamp = somePastMoment
    fake.pointee.hardware = 10
    #expect(reading(stream.look())?.nanoseconds == UInt64(fake.pointee.stamp))
  }

  @Test(arguments: [-1, 0, Int.max / 2, 3_600_000_000_001])
  func `an implausible timestamp is ignored`(stamp: Int) throws {
    let fake = FakePCM.make()
    let stream = try input(fake)
    try stream.start(silence: 0)
    // The last argument is an age, which exceeds the uptime of a recently started machine; the
    // stamp is then 0.
    let now = Int(HostClock.nanoseconds)
    fake.pointee.stamp = stamp == 3_600_000_000_001 ? max(0, now - stamp) : stamp
    fake.pointee.hardware = 10
    let found = try #require(reading(stream.look()))
    #expect(found.frames == 10 && found.nanoseconds >= UInt64(now))
  }

  @Test func `errors are translated to states`() throws {
    let fake = FakePCM.make()
    let stream = try output(fake)
    func state(_ code: Int32) -> String {
      fake.pointee.code = -Int(code)
      return "\(stream.look())"
    }
    #expect(state(EPIPE) == "xrun")
    #expect(state(ESTRPIPE) == "suspended")
    #expect(state(ENODEV) == "lost" && state(EIO) == "lost")
  }

  /// The server's plugin accepts every start and has run dry at the next query.
  @Test(arguments: [false, true])
  func `a server that underruns after each of four starts is lost`(movesOnce: Bool) throws {
    let fake = FakePCM.make()
    fake.pointee.is_server = true
    let stream = try output(fake)
    var found: [String] = []
    for start in 1...5 {
      fake.pointee.code = 0
      try stream.start(silence: 10)
      if movesOnce, start == 3 {
        fake.pointee.hardware = 1
        #expect(reading(stream.look())?.frames == 1)
      }
      fake.pointee.code = -Int(EPIPE)
      found.append("\(stream.look())")
    }
    #expect(
      found == ["xrun", "xrun", "xrun"] + (movesOnce ? ["xrun", "xrun"] : ["lost", "lost"]))
  }

  @Test(arguments: [false, true])
  func `a refused restart is reported as a lost server, or with its reason for hardware`(
    isServer: Bool
  )
    throws
  {
    let fake = FakePCM.make()
    fake.pointee.is_server = isServer
    let stream = try output(fake)
    let first = #expect(throws: DeviceFailure.self) { try stream.start(silence: 100_000) }
    #expect(first?.kind == .refused)
    try stream.start(silence: 10)
    let later = #expect(throws: DeviceFailure.self) { try stream.start(silence: 100_000) }
    #expect(later == (isServer ? .serverGone(fake.name) : first))
  }

  @Test func `frames are read and written across the end of the ring`() throws {
    let (source, target) = (FakePCM.make(), FakePCM.make())
    (source.pointee.buffer, target.pointee.buffer) = (100, 100)
    let stream = try input(source)
    let other = try output(target)
    try stream.start(silence: 0)
    try other.start(silence: 64)
    source.fill { Int16($0 % 100 * 100) }
    var samples = SampleBuffer(frameCount: 64, channelCount: 1)
    source.pointee.hardware = 64
    _ = stream.frames(64)
    #expect(stream.commit(64))
    source.pointee.hardware = 128
    target.pointee.hardware = 64
    let lent = try #require(stream.frames(64))
    lent.decode(from: 0, frames: 64, into: &samples, at: 0)
    let expected = (64..<128).map { Float($0 % 100 * 100) / 32768 }
    #expect((0..<64).map { samples[$0] } == expected)
    let room = try #require(other.frames(64))
    _ = room.encode(samples, from: 0, frames: 64, at: 0)
    #expect(stream.commit(64) && other.commit(64))
    #expect(source.pointee.application == 128 && target.pointee.application == 128)
    #expect((64..<128).allSatisfy { target.samples[$0 % 100] == Int16($0 % 100 * 100) })
  }

  @Test func `fewer frames than requested are not returned`() throws {
    let fake = FakePCM.make()
    let stream = try input(fake)
    try stream.start(silence: 0)
    fake.pointee.hardware = 63
    #expect(stream.frames(64) == nil)
    fake.pointee.hardware = 64
    #expect(stream.frames(64) != nil)
  }

  @Test(arguments: [(7, 0, true), (7, -5, true), (8, 0, false), (8, -5, false)])
  func `refused frames are offered again, up to eight times`(
    refusals: Int, code: Int, isTaken: Bool
  ) throws {
    let fake = FakePCM.make()
    let stream = try output(fake)
    try stream.start(silence: 0)
    _ = stream.frames(64)
    fake.pointee.refusals = Int32(refusals)
    fake.pointee.refusal_code = code
    #expect(stream.commit(64) == isTaken)
    #expect(fake.pointee.application == (isTaken ? 64 : 0))
  }

  @Test(arguments: [(8, true, 64), (7, false, 56)])
  func `frames that are accepted in part are committed in pieces`(
    maximum: Int, isTaken: Bool, taken: Int
  )
    throws
  {
    for isCopied in [false, true] {
      let fake = FakePCM.make()
      fake.pointee.is_copied = isCopied
      let stream = try output(fake)
      try stream.start(silence: 0)
      let room = try #require(stream.frames(64))
      var samples = SampleBuffer(frameCount: 64, channelCount: 1)
      for index in 0..<64 { samples[index] = Float(index) / 32768 }
      _ = room.encode(samples, from: 0, frames: 64, at: 0)
      fake.pointee.maximum = maximum
      #expect(stream.commit(64) == isTaken)
      #expect(fake.pointee.application == taken)
      #expect((0..<taken).allSatisfy { fake.samples[$0] == Int16($0) })
    }
  }

  @Test func `frames are copied from a device without mapped memory`() throws {
    let fake = FakePCM.make()
    fake.pointee.is_copied = true
    let stream = try input(fake)
    try stream.start(silence: 0)
    fake.fill { Int16($0) }
    fake.pointee.hardware = 64
    fake.pointee.maximum = 30
    let lent = try #require(stream.frames(64))
    var samples = SampleBuffer(frameCount: 64, channelCount: 1)
    lent.decode(from: 0, frames: 64, into: &samples, at: 0)
    #expect((0..<64).allSatisfy { samples[$0] == Float($0) / 32768 })
    #expect(stream.commit(64))
    #expect(fake.pointee.application == 64)
  }

  /// Returns a sample value that identifies the frame, 0 to 63, and the channel.
  private func numbered(_ frame: Int, _ channel: Int) -> Int16 { Int16(channel * 1000 + frame) }

  private func prepare(_ fake: FakePCM, isCopied: Bool, isPlanar: Bool) {
    fake.pointee.is_copied = isCopied
    fake.pointee.is_planar = isPlanar
    // The period crosses the end of the ring buffer.
    fake.pointee.buffer = 100
    fake.pointee.maximum = 30
  }

  /// Returns the index of a sample of the second period in the buffer.
  private func place(_ frame: Int, _ channel: Int, isPlanar: Bool) -> Int {
    let frame = (64 + frame) % 100
    return isPlanar ? channel * 100 + frame : frame * 3 + channel
  }

  @Test(arguments: [false, true], [false, true])
  func `each channel of an input is read from its own memory`(isCopied: Bool, isPlanar: Bool) throws
  {
    let fake = FakePCM.make()
    prepare(fake, isCopied: isCopied, isPlanar: isPlanar)
    let stream = try input(fake, channelCount: 3)
    try stream.start(silence: 0)
    fake.pointee.hardware = 64
    #expect(stream.frames(64) != nil && stream.commit(64))
    for frame in 0..<64 {
      for channel in 0..<3 {
        fake.pointee.memory[place(frame, channel, isPlanar: isPlanar)] = numbered(frame, channel)
      }
    }
    fake.pointee.hardware = 128
    let lent = try #require(stream.frames(64))
    var samples = SampleBuffer(frameCount: 64, channelCount: 3)
    lent.decode(from: 0, frames: 64, into: &samples, at: 0)
    for frame in 0..<64 {
      for channel in 0..<3 {
        #expect(samples[3 * frame + channel] == Float(numbered(frame, channel)) / 32768)
      }
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `each channel of an output is written to its own memory`(isCopied: Bool, isPlanar: Bool)
    throws
  {
    let fake = FakePCM.make()
    prepare(fake, isCopied: isCopied, isPlanar: isPlanar)
    let stream = try output(fake, channelCount: 3)
    try stream.start(silence: 64)
    fake.pointee.hardware = 64
    var samples = SampleBuffer(frameCount: 64, channelCount: 3)
    for frame in 0..<64 {
      for channel in 0..<3 {
        samples[3 * frame + channel] = Float(numbered(frame, channel)) / 32768
      }
    }
    let room = try #require(stream.frames(64))
    _ = room.encode(samples, from: 0, frames: 64, at: 0)
    #expect(stream.commit(64) && fake.pointee.application == 128)
    for frame in 0..<64 {
      for channel in 0..<3 {
        let sample = fake.pointee.memory[place(frame, channel, isPlanar: isPlanar)]
        #expect(sample == numbered(frame, channel))
      }
    }
  }

  @Test(arguments: [true, false])
  func `frames are copied from a device with uneven distances between channels`(isByChannel: Bool)
    throws
  {
    let fake = FakePCM.make()
    fake.pointee.is_uneven = isByChannel
    fake.pointee.has_uneven_steps = !isByChannel
    let stream = try input(fake, channelCount: 3)
    try stream.start(silence: 0)
    fake.fill { Int16($0) }
    fake.pointee.hardware = 64
    let lent = try #require(stream.frames(64))
    var samples = SampleBuffer(frameCount: 64, channelCount: 3)
    lent.decode(from: 0, frames: 64, into: &samples, at: 0)
    #expect((0..<192).allSatisfy { samples[$0] == Float($0) / 32768 })
    // The frames were taken from the device when they were copied.
    #expect(fake.pointee.application == 64)
  }

  @Test func `a detached device is closed, opened, and started with the requested silence`() throws
  {
    let fake = FakePCM.make()
    let stream = try output(fake)
    try stream.start(silence: 10)
    let news = MutexBox<DeviceReturn?>(nil)
    #expect(stream.enableReconnection(reportingTo: news))
    #expect(stream.reattach() == nil)
    fake.fill { _ in 7 }
    stream.detach(silence: 200)
    #expect("\(stream.look())" == "lost" && stream.frames(64) == nil && !stream.commit(64))
    var silence: Int?
    while silence == nil {
      sched_yield()
      silence = stream.reattach()
    }
    #expect(silence == 200 && fake.pointee.application == 200)
    #expect(fake.samples[..<200].allSatisfy { $0 == 0 } && fake.samples[200] == 7)
    #expect(fake.pointee.closed == 1 && fake.pointee.opened == 2 && fake.pointee.started == 2)
    #expect(news.withLock { $0 } == .returned(cards: []))
    #expect(reading(stream.look())?.frames == 0)
    #expect(stream.reattach() == nil)
    stream.stop()
    #expect(!fake.pointee.is_running)
  }

  @Test func `a device that returns with other settings is reported and not attached`() throws {
    let fake = FakePCM.make()
    let stream = try output(fake)
    try stream.start(silence: 10)
    let news = MutexBox<DeviceReturn?>(nil)
    #expect(stream.enableReconnection(reportingTo: news))
    fake.pointee.rate = 44100
    stream.detach(silence: 10)
    while news.withLock({ $0 }) == nil { sched_yield() }
    #expect(news.withLock { $0 } == .refused(.otherSettings(fake.name)))
    #expect(stream.reattach() == nil)
    stream.stop()
  }
}
