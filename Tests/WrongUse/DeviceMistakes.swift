import Duplex

/// Wrong uses of devices, units and sessions.
let deviceMistakes: [Mistake] = [
  Mistake(name: "period-0", answer: .thrown) { try ask { $0.periodFrames = 0 } },
  Mistake(name: "period-negative", answer: .thrown) { try ask { $0.periodFrames = -64 } },
  Mistake(name: "period-huge", answer: .thrown) { try ask { $0.periodFrames = .max } },
  Mistake(name: "periods-0", answer: .thrown) { try ask { $0.periods = 0 } },
  Mistake(name: "periods-huge", answer: .thrown) { try ask { $0.periods = .max } },
  Mistake(name: "headroom-negative", answer: .thrown) { try ask { $0.headroomFrames = -1 } },
  Mistake(name: "rate-0", answer: .thrown) { try ask { $0.sampleRate = 0 } },
  Mistake(name: "rate-huge", answer: .thrown) { try ask { $0.sampleRate = .max } },
  Mistake(name: "channels-0", answer: .thrown) { try ask { $0.channelCount = 0 } },
  Mistake(name: "channels-huge", answer: .thrown) { try ask { $0.channelCount = .max } },
  Mistake(name: "channel-list-empty", answer: .thrown) { try ask { $0.captureChannels = [] } },
  Mistake(name: "channel-0", answer: .thrown) { try ask { $0.captureChannels = [0] } },
  Mistake(name: "channel-twice", answer: .thrown) { try ask { $0.playbackChannels = [1, 1] } },
  Mistake(name: "quality-11", answer: .thrown) { try ask { $0.resamplerQuality = 11 } },
  Mistake(name: "no-device", answer: .thrown) {
    _ = try OpenDevice(opening: DeviceSelection(input: nil, output: nil))
  },
  Mistake(name: "unknown-device", answer: .thrown) { _ = try open("hw:CARD=nowhere") },
  Mistake(name: "device-without-name", answer: .thrown) { _ = try open("") },
  Mistake(name: "unknown-setting-of-sim", answer: .thrown) { _ = try open("sim:nonsense=1") },
  Mistake(name: "selected-channel-beyond-device", answer: .stopped) {
    _ = ChannelSelection([3], of: 2)
  },
  Mistake(name: "buffer-of-a-device-without-end", answer: .stopped) {
    _ = DeviceBuffer(format: .s16LE, channelCount: 2, frameCount: .max)
  },
  Mistake(name: "buffer-of-a-device-with-too-many-channels", answer: .stopped) {
    _ = DeviceBuffer(format: .s16LE, channelCount: .max, frameCount: 1)
  },
  Mistake(name: "buffer-of-a-device-of-negative-size", answer: .harmless) {
    _ = DeviceBuffer(format: .s16LE, channelCount: -1, frameCount: .min)
  },
  Mistake(name: "buffer-of-a-device-without-its-channel", answer: .stopped) {
    _ = DeviceBuffer(
      format: .s16LE, channelCount: 2, frameCount: 64, lending: ChannelSelection([200], of: 256))
  },
  Mistake(name: "secondary-output-with-a-negative-number", answer: .harmless) {
    let outputs = FanOutDevice(try open(), resamplerQuality: 5)
    _ = (outputs.secondaryReading(.min), outputs.secondaryReading(.max))
  },
  Mistake(name: "callbacks-too-short", answer: .stopped) { try run(Fixed(64, 2)) },
  Mistake(name: "callbacks-without-frames", answer: .stopped) { try run(Fixed(0, 2)) },
  Mistake(name: "callbacks-without-channels", answer: .stopped) { try run(Fixed(0, 0)) },
  Mistake(name: "callbacks-of-one-channel", answer: .stopped) { try run(Fixed(256, 1)) },
  Mistake(name: "unit-started-twice", answer: .thrown) {
    var unit = DuplexUnit(
      device: try open(), callbacks: Fixed(256, 2), progress: UnitProgress())
    try unit.start()
    try unit.start()
  },
  Mistake(name: "unit-run-before-start", answer: .thrown) {
    var unit = DuplexUnit(
      device: try open(), callbacks: Fixed(256, 2), progress: UnitProgress())
    if let failure = unit.run() { throw failure }
  },
  Mistake(name: "unit-run-after-stop", answer: .thrown) {
    var unit = DuplexUnit(
      device: try open(), callbacks: Fixed(256, 2), progress: UnitProgress())
    try unit.start()
    unit.stop()
    if let failure = unit.run() { throw failure }
  },
  Mistake(name: "unit-started-after-stop", answer: .thrown) {
    var unit = DuplexUnit(
      device: try open(), callbacks: Fixed(256, 2), progress: UnitProgress())
    try unit.start()
    unit.stop()
    try unit.start()
  },
  Mistake(name: "frame-limit-negative", answer: .harmless) {
    try run(Mixer(try open().configuration), frameLimit: -1)
  },
  Mistake(name: "mixer-of-one-channel", answer: .thrown) {
    try run(
      Mixer(
        try granted {
          $0.capture?.channelCount = 1
          $0.playback?.channelCount = 1
        }))
  },
  Mistake(name: "mixer-of-a-shorter-period", answer: .thrown) {
    try run(Mixer(try granted { $0.periodFrames = 64 }))
  },
  Mistake(name: "player-of-another-rate", answer: .thrown) {
    try runPlayer(of: AudioPlayer.Shape(sampleRate: 44100, channelCount: 2, periodFrames: 256))
  },
  Mistake(name: "player-of-another-shape", answer: .thrown) {
    try runPlayer(of: AudioPlayer.Shape(sampleRate: 48000, channelCount: 1, periodFrames: 256))
  },
  Mistake(name: "player-of-impossible-shape", answer: .thrown) {
    _ = try AudioPlayer().attach(
      to: AudioPlayer.Shape(sampleRate: 0, channelCount: -1, periodFrames: 0))
  },
]

/// Runs a player of `shape` on a device that has 2 channels at 48 kHz.
private func runPlayer(of shape: AudioPlayer.Shape) throws {
  var mixer = Mixer(try open().configuration)
  mixer.player = try AudioPlayer().attach(to: shape)
  try run(mixer)
}
