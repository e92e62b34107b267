import AudioBasics
import AudioDevices
import SimulatedDevices
import Testing

struct SpecificationTests {
  @Test(arguments: ["sim", "sim:"])
  func `sim without settings is the default device`(name: String) throws {
    var expected = SimulatedDeviceSpecification()
    expected.name = name
    #expect(try SimulatedDeviceSpecification(parsing: name) == expected)
    #expect(expected.sampleRate == 48000 && expected.channelCount == 2 && expected.clock == .real)
  }

  @Test func `every setting is parsed`() throws {
    let name =
      "sim:rate=96000,channels=4,delay=12.5,gain=-6,invert=1,noise=-80,drift=-30,tick=4,mic=/a=b.wav,"
      + "clock=free,xrun-at=2,xrun-at=1.5,xrun-frames=100,unplug-at=3,replug-at=4"
    let specification = try SimulatedDeviceSpecification(parsing: name)
    var expected = SimulatedDeviceSpecification()
    expected.name = name
    expected.sampleRate = 96000
    expected.channelCount = 4
    expected.delayFrames = 12.5
    expected.gain = Gain(decibels: -6)
    expected.isInverted = true
    expected.noiseDBFS = -80
    expected.driftPPM = -30
    expected.tickMilliseconds = 4
    expected.microphonePath = "/a=b.wav"
    expected.clock = .free
    expected.xrunSeconds = [1.5, 2]
    expected.xrunFrames = 100
    expected.unplugSeconds = [3]
    expected.replugSeconds = [4]
    #expect(specification == expected)
  }

  @Test(arguments: [
    ("rate", "7999"), ("rate", "768001"), ("rate", "fast"), ("rate", "48000.5"),
    ("channels", "0"), ("channels", "65"), ("delay", "-1"), ("delay", "nan"), ("delay", "480001"),
    ("gain", "loud"), ("gain", "61"), ("invert", "2"), ("noise", "1"), ("noise", ""),
    ("drift", "10001"), ("drift", "inf"), ("tick", "-1"), ("mic", ""), ("clock", "fake"),
    ("xrun-at", "-0.1"),
    ("xrun-frames", "0"), ("unplug-at", "soon"), ("replug-at", "1"), ("colour", "red"),
  ])
  func `an invalid setting is refused with its key`(key: String, value: String) {
    let failure = #expect(throws: DeviceFailure.self) {
      try SimulatedDeviceSpecification(parsing: "sim:\(key)=\(value)")
    }
    #expect(failure?.kind == .invalidRequest)
    #expect(failure?.message.contains(key) == true)
    #expect(failure?.hint.isEmpty == false)
  }

  @Test(arguments: [
    ("sim:delay=7680000", "7680000", "0 to 480000 frames at 48000 Hz"),
    ("sim:delay=-0.5", "-0.5", "0 to 480000 frames at 48000 Hz"),
    ("sim:delay=7680001,rate=768000", "7680001", "0 to 7680000 frames at 768000 Hz"),
  ])
  func `the allowed range of the delay is stated for the rate`(
    name: String, value: String, range: String
  ) {
    let failure = #expect(throws: DeviceFailure.self) {
      try SimulatedDeviceSpecification(parsing: name)
    }
    #expect(failure?.message == "A simulated device cannot have delay=\(value).")
    #expect(failure?.hint == "delay takes \(range).")
  }

  @Test(arguments: [
    "sim:rate", "simulated", "hw:0", "sim:unplug-at=2,replug-at=2",
    "sim:unplug-at=1,unplug-at=2,replug-at=3",
    "sim:unplug-at=1,replug-at=2,unplug-at=3,unplug-at=4",
  ])
  func `text that is not a specification is refused`(name: String) {
    let failure = #expect(throws: DeviceFailure.self) {
      try SimulatedDeviceSpecification(parsing: name)
    }
    #expect(failure?.kind == .invalidRequest)
  }

  @Test func `the device grants its own rate and channels`() throws {
    let specification = try SimulatedDeviceSpecification(parsing: "sim:rate=44100,channels=4")
    var request = DuplexRequest(captureDevice: "sim:a", playbackDevice: "sim:b")
    request.periodFrames = 100
    request.headroomFrames = 150
    let granted = try SimulatedDevice(specification, request: request).configuration
    #expect(granted.sampleRate == 44100 && granted.periodFrames == 100)
    #expect(granted.headroomFrames == 150 && granted.isLinked && !granted.isResampling)
    #expect(granted.capture?.device == "sim:a" && granted.playback?.device == "sim:b")
    #expect(granted.capture?.channelCount == 2 && granted.capture?.format == .floatLE)
    #expect(granted.playback?.bufferFrames == 300 && granted.capture?.bufferFrames == 4096)
    request.channelCount = 4
    request.format = .s24Packed3LE
    let wide = try SimulatedDevice(specification, request: request).configuration
    #expect(wide.playback?.channelCount == 4 && wide.playback?.format == .s24Packed3LE)
  }

  @Test func `more channels than the device has are refused`() throws {
    var request = DuplexRequest(captureDevice: "sim", playbackDevice: nil)
    request.channelCount = 3
    let asked = request
    let failure = #expect(throws: DeviceFailure.self) {
      _ = try SimulatedDevice(SimulatedDeviceSpecification(), request: asked)
    }
    #expect(failure?.kind == .refused)
  }

  @Test(
    arguments: [
      { $0.channelCount = 0 }, { $0.channelCount = .max }, { $0.sampleRate = 0 },
      { $0.sampleRate = .max }, { $0.captureRate = -1 },
      { $0.noiseDBFS = .nan }, { $0.driftPPM = .infinity },
      { $0.driftSteps = [.init(seconds: -1, ppm: 0)] },
      { $0.driftSteps = [.init(seconds: 1, ppm: 1e9)] },
      { $0.batchFrames = 0 }, { $0.batchFrames = .max }, { $0.jitterMilliseconds = .infinity },
      { $0.tickMilliseconds = -1 }, { $0.delayFrames = .nan }, { $0.xrunFrames = .min },
      { $0.xrunFrames = 192001 },
      { $0.xrunSeconds = [.infinity] }, { $0.xrunSeconds = [2, 1] }, { $0.drySeconds = [.nan] },
      { $0.unplugSeconds = [-.infinity] }, { $0.replugSeconds = [1] },
    ] as [@Sendable (inout SimulatedDeviceSpecification) -> Void])
  func `values set by a program outside of the ranges of the keys are refused`(
    change: @Sendable (inout SimulatedDeviceSpecification) -> Void
  ) throws {
    var changed = SimulatedDeviceSpecification()
    change(&changed)
    let (specification, request) = (
      changed, DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
    )
    let failure = #expect(throws: DeviceFailure.self) {
      _ = try SimulatedDevice(specification, request: request)
    }
    #expect(failure?.kind == .invalidRequest)
    #expect(throws: DeviceFailure.self) {
      _ = try DevicePair(simulating: specification, request: request)
    }
  }
}
