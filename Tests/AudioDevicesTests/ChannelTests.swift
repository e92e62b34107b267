import AudioBasics
import FakePCM
import Testing

@testable import AudioDevices

/// Tests of the selection of a device's channels by a unit.
@Suite struct ChannelTests {
  /// Returns a PCM that supports only `channels` channels.
  private func fake(_ channels: Int, _ change: (FakePCM) -> Void = { _ in }) -> FakePCM {
    let fake = FakePCM.make()
    fake.pointee.channels = channels
    fake.pointee.buffer = 256
    change(fake)
    return fake
  }

  private func request(
    _ capture: FakePCM?, _ playback: FakePCM?, _ captured: [Int]? = nil, _ played: [Int]? = nil
  ) -> DuplexRequest {
    var request = DuplexRequest.fake(capture, playback)
    request.channelCount = nil
    request.captureChannels = captured
    request.playbackChannels = played
    return request
  }

  /// Returns a setting for one of four ways in which a PCM transfers frames.
  private func access(_ number: Int) -> (FakePCM) -> Void {
    { fake in
      fake.pointee.is_planar = number & 1 == 1
      fake.pointee.is_copied = number & 2 == 2
    }
  }

  @Test(arguments: 0..<4, [[3, 4], [5], [1, 1], [4, 2, 4], [1, 2, 3, 4, 5]])
  func `the selected channels are captured in their order`(access: Int, named: [Int]) throws {
    let fake = fake(5, self.access(access))
    var device = try ALSADuplex(opening: request(fake, nil, named))
    #expect(device.configuration.capture?.channelCount == named.count)
    // Each sample identifies its frame and its channel.
    let isPlanar = fake.pointee.is_planar
    fake.fill { place in
      let (frame, channel) =
        isPlanar ? (place % 256, place / 256) : (place / 5, place % 5)
      return Int16(truncatingIfNeeded: frame * 8 + channel + 1)
    }
    try device.start()
    fake.pointee.hardware = 64
    var status = DeviceStatus()
    device.wait(noLongerThan: 0, &status)
    let lent = device.capturedFrames(64)
    let frames = try #require(lent)
    var samples = SampleBuffer(frameCount: 64, channelCount: named.count)
    frames.decode(from: 0, frames: 64, into: &samples, at: 0)
    for frame in 0..<64 {
      for (index, channel) in named.enumerated() {
        #expect(samples[frame * named.count + index] * 32768 == Float(frame * 8 + channel))
      }
    }
    device.release(64)
  }

  @Test(arguments: 0..<2, [[3, 4], [5], [4, 2]])
  func `channels that are not selected stay silent`(access: Int, named: [Int]) throws {
    let isPlanar = access == 1
    let fake = fake(5, self.access(access))
    fake.fill { _ in 7 }
    var device = try ALSADuplex(opening: request(nil, fake, nil, named))
    try device.start()
    var samples = SampleBuffer(frameCount: 64, channelCount: named.count)
    for index in 0..<samples.sampleCount { samples[index] = Float(index + 100) / 32768 }
    fake.pointee.application = 0
    let lent = device.playbackRoom(64)
    let room = try #require(lent)
    _ = room.encode(samples, from: 0, frames: 64, at: 0)
    device.commit(64)
    for frame in 0..<64 {
      for channel in 1...5 {
        let sample = fake.samples[isPlanar ? (channel - 1) * 256 + frame : frame * 5 + channel - 1]
        let expected = named.firstIndex(of: channel).map { frame * named.count + $0 + 100 } ?? 0
        #expect(Int(sample) == expected)
      }
    }
    // The previous contents of the rest of the device's memory are cleared as well.
    #expect(fake.samples[(64 * 5)...].allSatisfy { $0 == 0 } || isPlanar)
  }

  @Test func `the first two channels of a device with many channels are used`() throws {
    let fake = fake(26)
    let device = try ALSADuplex(opening: request(fake, nil))
    #expect(device.configuration.capture?.channelCount == 2)
    #expect(
      device.configuration.capture?.selection == ChannelSelection([1, 2], of: 26))
  }

  @Test(arguments: [1, 3, 4])
  func `as many channels of a device are used as are requested`(count: Int) throws {
    let fake = fake(4)
    var request = request(fake, nil)
    request.channelCount = count
    let device = try ALSADuplex(opening: request)
    #expect(device.configuration.capture?.channelCount == count)
  }

  @Test func `each direction has its own channels`() throws {
    let (mono, many) = (fake(1), fake(8))
    let device = try ALSADuplex(opening: request(mono, many, [1, 1], [7, 8]))
    #expect(device.configuration.capture?.channelCount == 2)
    #expect(device.configuration.playback?.channelCount == 2)
    #expect(device.configuration.playback?.selection == ChannelSelection([7, 8], of: 8))
  }

  @Test func `a channel that a device does not have is refused with its number`() throws {
    let fake = fake(2)
    let failure = #expect(throws: DeviceFailure.self) {
      _ = try ALSADuplex(opening: request(fake, nil, [3]))
    }
    #expect(failure?.kind == .refused)
    #expect(failure?.message.contains("channel 3") == true)
    #expect(failure?.remedy == .chooseChannels(within: 2...2, isCapture: true))
  }

  @Test(
    arguments: [
      ([0], nil), ([257], nil), ([], nil), (Array(repeating: 1, count: 65), nil), (nil, [2, 2]),
    ] as [([Int]?, [Int]?)])
  func `lists of channels that no device could have are refused`(captured: [Int]?, played: [Int]?) {
    let failure = #expect(throws: DeviceFailure.self) {
      try request(.make(), .make(), captured, played).validate()
    }
    #expect(failure?.kind == .invalidRequest)
  }

  @Test func `a number of channels and a list of a different length are refused`() {
    var both = request(.make(), nil, [3, 4])
    both.channelCount = 2
    #expect(throws: Never.self) { try both.validate() }
    both.channelCount = 1
    #expect(throws: DeviceFailure.self) { try both.validate() }
  }

  @Test(arguments: SampleFormat.allCases)
  func `selected channels are stored and loaded in every format`(format: SampleFormat) {
    let device = DeviceBuffer(
      format: format, channelCount: 6, frameCount: 9, lending: ChannelSelection([6, 2], of: 6))
    var samples = SampleBuffer(frameCount: 9, channelCount: 2)
    for index in 0..<18 { samples[index] = Float(index + 1) / 64 }
    _ = device.frames(9).encode(samples, from: 0, frames: 9, at: 0)
    var all = SampleBuffer(frameCount: 9, channelCount: 6)
    device.load(frames: 9, into: &all, at: 0)
    for frame in 0..<9 {
      for channel in 0..<6 {
        let expected = channel == 5 ? samples[2 * frame] : channel == 1 ? samples[2 * frame + 1] : 0
        #expect(all[6 * frame + channel] == expected)
      }
    }
    device.frames(9).clear(from: 0, frames: 9)
    device.frames(9).decode(from: 0, frames: 9, into: &samples, at: 0)
    for index in 0..<18 { #expect(samples[index] == 0) }
  }
}
