import Duplex

/// Devices, units, sessions.
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
  Mistake(name: "callbacks-too-short", answer: .stopped) { try run(Fixed(64, 2)) },
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
    let configuration = try open().configuration
    var mixer = Mixer(configuration)
    let player = AudioPlayer()
    mixer.player = try player.attach(
      to: AudioPlayer.Shape(sampleRate: 44100, channelCount: 2, periodFrames: 256))
    try run(mixer)
  },
  Mistake(name: "player-of-another-shape", answer: .thrown) {
    let configuration = try open().configuration
    var mixer = Mixer(configuration)
    let player = AudioPlayer()
    mixer.player = try player.attach(
      to: AudioPlayer.Shape(sampleRate: 48000, channelCount: 1, periodFrames: 256))
    try run(mixer)
  },
  Mistake(name: "player-of-impossible-shape", answer: .thrown) {
    _ = try AudioPlayer().attach(
      to: AudioPlayer.Shape(sampleRate: 0, channelCount: -1, periodFrames: 0))
  },
]

/// Engines, their players, recordings and effects.
let engineMistakes: [Mistake] = [
  Mistake(name: "engine-on-unknown-device", answer: .thrown) {
    try await DuplexEngine(device: "sim:nonsense=1").start()
  },
  Mistake(name: "engine-started-twice", answer: .harmless) {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.start()
    try await engine.start()
    await engine.stop()
  },
  Mistake(name: "engine-stopped-twice", answer: .harmless) {
    let engine = DuplexEngine(device: "sim:clock=free")
    await engine.stop()
    await engine.stop()
  },
  Mistake(name: "engine-for-negative-seconds", answer: .harmless) {
    try await DuplexEngine(device: "sim:clock=free").run(seconds: -1)
  },
  Mistake(name: "recording-used-after-its-end", answer: .harmless) {
    let engine = DuplexEngine(device: "sim:clock=free")
    var settings = RecordingSettings()
    settings.overwrite = true
    let recording = try await engine.record(to: "ended.wav", settings)
    try await engine.run(seconds: 0.1)
    recording.mark("late")
    recording.split()
    _ = await recording.stop()
  },
  Mistake(name: "microphone-recorded-twice", answer: .thrown) {
    let engine = DuplexEngine(device: "sim:clock=free")
    var settings = RecordingSettings()
    settings.overwrite = true
    try await engine.record(to: "one.wav", settings)
    try await engine.start()
    try await engine.record(to: "two.wav", settings)
  },
  Mistake(name: "nothing-to-record", answer: .thrown) {
    let engine = DuplexEngine(input: nil, output: "sim:clock=free")
    try await engine.record(to: "none.wav")
    try await engine.start()
  },
  Mistake(name: "recording-of-unknown-format", answer: .thrown) {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.record(to: "take.xyz")
    try await engine.start()
  },
  Mistake(name: "recording-in-no-folder", answer: .thrown) {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.record(to: "no/where/take.wav")
    try await engine.start()
  },
  Mistake(name: "recording-with-a-negative-ring", answer: .harmless) {
    let engine = DuplexEngine(device: "sim:clock=free")
    var settings = RecordingSettings()
    settings.overwrite = true
    settings.ringSeconds = -1
    try await engine.record(to: "ring.wav", settings)
    try await engine.run(seconds: 0.1)
  },
  Mistake(name: "effect-beyond-its-frames", answer: .stopped) {
    let engine = DuplexEngine(device: "sim:clock=free")
    engine.insert(Reaching(beyond: 0))
    try await engine.run(seconds: 0.1)
  },
  Mistake(name: "effect-far-before-its-frames", answer: .stopped) {
    let engine = DuplexEngine(device: "sim:clock=free")
    engine.insert(Reaching(beyond: -100_000))
    try await engine.run(seconds: 0.1)
  },
  Mistake(name: "more-effects-than-there-is-room-for", answer: .stopped) {
    let engine = DuplexEngine(device: "sim:clock=free")
    for _ in 0...EffectInsert.mostEffects { engine.insert(Reaching(beyond: -1)) }
  },
  Mistake(name: "effects-that-were-not-prepared", answer: .stopped) {
    var insert = EffectInsert(Reaching(beyond: -1))
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    insert.process(&buffer, frames: 64)
  },
  Mistake(name: "effects-of-another-shape", answer: .stopped) {
    var insert = EffectInsert(Reaching(beyond: -1))
    insert.prepare(EffectFormat(sampleRate: 48000, channelCount: 2, maximumFrames: 64))
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    insert.process(&buffer, frames: 64)
  },
  Mistake(name: "format-of-no-channels", answer: .stopped) {
    var insert = EffectInsert(Reaching(beyond: -1))
    insert.prepare(EffectFormat(sampleRate: 0, channelCount: -1, maximumFrames: -1))
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    insert.process(&buffer, frames: 64)
  },
  Mistake(name: "file-that-is-not-there", answer: .thrown) {
    try await play { $0.enqueue(path: "nowhere.wav") }
  },
  Mistake(name: "address-that-is-none", answer: .thrown) {
    try await play { $0.enqueue(address: "nonsense://") }
  },
  Mistake(name: "decoder-of-rate-0", answer: .thrown) {
    try await play { $0.enqueue(Decoder(sampleRate: 0)) }
  },
  Mistake(name: "decoder-of-no-channels", answer: .thrown) {
    try await play { $0.enqueue(Decoder(channelCount: 0)) }
  },
  Mistake(name: "decoder-of-a-million-channels", answer: .thrown) {
    try await play { $0.enqueue(Decoder(channelCount: 1_000_000)) }
  },
  Mistake(name: "decoder-that-gives-too-much", answer: .stopped) {
    try await play { $0.enqueue(Decoder(surplus: 1)) }
  },
  Mistake(name: "decoder-that-gives-less-than-nothing", answer: .stopped) {
    try await play { $0.enqueue(Decoder(surplus: -1_000_000)) }
  },
  Mistake(name: "item-without-parts", answer: .thrown) {
    try await play { $0.enqueue(QueueItem([])) }
  },
  Mistake(name: "settings-of-no-sense", answer: .thrown) {
    var settings = TrackSettings(gain: Gain(factor: .nan), resamplerQuality: 99)
    settings.speed = 0
    settings.pan = 7
    settings.order = PlaybackRange(startFrame: 10, endFrame: -10, times: -1)
    try await play { $0.enqueue(Decoder(), settings: settings) }
  },
  Mistake(name: "seek-in-nothing", answer: .thrown) {
    try AudioPlayer().seek(toSeconds: .nan)
  },
  Mistake(name: "player-skipped-far", answer: .harmless) {
    let player = AudioPlayer()
    player.skip(by: .max)
    player.skip(by: .min)
    player.setSpeed(.nan)
    player.setRegion(-5 ..< -3, times: -1)
    player.setEndingSoonLead(seconds: -1)
  },
]

/// Files, decoders, recordings.
let fileMistakes: [Mistake] = [
  Mistake(name: "file-to-read-not-there", answer: .thrown) {
    _ = try SoundFileReader(path: "nowhere.wav")
  },
  Mistake(name: "file-of-rate-0", answer: .thrown) {
    _ = try SoundFileWriter(
      path: "rate.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 0, channelCount: 2,
      overwrite: true)
  },
  Mistake(name: "file-of-no-channels", answer: .thrown) {
    _ = try SoundFileWriter(
      path: "channels.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 0, overwrite: true)
  },
  Mistake(name: "file-of-other-channels", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 1), frames: 64)
  },
  Mistake(name: "file-from-beyond-a-buffer", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 65)
  },
  Mistake(name: "file-of-negative-frames", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: -1)
  },
  Mistake(name: "plan-of-no-channels", answer: .thrown) { try record { $0.channelCount = 0 } },
  Mistake(name: "plan-of-rate-0", answer: .thrown) { try record { $0.sampleRate = 0 } },
  Mistake(name: "plan-with-a-negative-ring", answer: .thrown) {
    try record({ _ in }, ringFrames: -1)
  },
  Mistake(name: "plan-with-an-impossible-ring", answer: .thrown) {
    try record({ _ in }, ringFrames: .max)
  },
  Mistake(name: "plan-split-after-nothing", answer: .harmless) {
    try record { $0.split = .frames(0) }
  },
  Mistake(name: "file-read-beyond-a-buffer", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    var reader = try SoundFileReader(path: "wrong.wav")
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    _ = try reader.read(into: &buffer, at: 65, frames: 1)
  },
  Mistake(name: "file-sought-beyond-its-end", answer: .thrown) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    var reader = try SoundFileReader(path: "wrong.wav")
    try reader.seek(toFrame: 65)
  },
  Mistake(name: "splice-of-negative-frame", answer: .thrown) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    let splice = try FileSplice(path: "wrong.wav")
    try splice.replace(from: -1, with: "wrong.wav", leastFrames: -1, isNew: false)
  },
  Mistake(name: "track-of-rate-0", answer: .thrown) {
    _ = try TrackReader(Decoder(), sampleRate: 0, channelCount: 2)
  },
  Mistake(name: "track-of-no-channels", answer: .thrown) {
    _ = try TrackReader(Decoder(), sampleRate: 48000, channelCount: 0)
  },
]

/// Buffers, rings, converters, meters.
let soundMistakes: [Mistake] = [
  Mistake(name: "buffer-of-negative-size", answer: .stopped) {
    var buffer = SampleBuffer(frameCount: -1, channelCount: 2)
    buffer[0] = 1
  },
  Mistake(name: "buffer-of-impossible-size", answer: .stopped) {
    _ = SampleBuffer(frameCount: .max, channelCount: 2)
  },
  Mistake(name: "sample-outside-of-a-buffer", answer: .stopped) {
    let buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    print(buffer[128])
  },
  Mistake(name: "ring-of-other-channels", answer: .stopped) {
    var writer = SampleWriter(frameCount: 64, channelCount: 2)
    _ = writer.write(SampleBuffer(frameCount: 64, channelCount: 1), frames: 64)
  },
  Mistake(name: "ring-from-beyond-a-buffer", answer: .stopped) {
    var writer = SampleWriter(frameCount: 64, channelCount: 2)
    _ = writer.write(SampleBuffer(frameCount: 64, channelCount: 2), from: 1, frames: 64)
  },
  Mistake(name: "ring-of-impossible-size", answer: .stopped) {
    _ = SampleWriter(frameCount: .max, channelCount: 2)
  },
  Mistake(name: "ring-with-two-readers", answer: .stopped) {
    let writer = SampleWriter(frameCount: 64, channelCount: 2)
    _ = writer.makeReader()
    _ = writer.makeReader()
  },
  Mistake(name: "events-with-two-readers", answer: .stopped) {
    let writer = EventWriter()
    _ = writer.makeReader()
    _ = writer.makeReader()
  },
  Mistake(name: "two-values-of-a-handoff", answer: .stopped) {
    let handoff = Handoff<Int>()
    handoff.send(1)
    handoff.send(2)
  },
  Mistake(name: "converter-of-no-channels", answer: .thrown) {
    _ = try RateConverter(channelCount: 0, inputRate: 48000, outputRate: 44100)
  },
  Mistake(name: "converter-of-rate-0", answer: .thrown) {
    _ = try RateConverter(channelCount: 1, inputRate: 0, outputRate: 44100)
  },
  Mistake(name: "converter-of-other-channels", answer: .stopped) {
    var converter = try RateConverter(channelCount: 1, inputRate: 48000, outputRate: 44100)
    var output = SampleBuffer(frameCount: 64, channelCount: 2)
    _ = converter.convert(
      SampleBuffer(frameCount: 64, channelCount: 1), frames: 64, into: &output, room: 64)
  },
  Mistake(name: "converter-of-ratio-0", answer: .stopped) {
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 1)
    converter.setRatio(0)
  },
  Mistake(name: "converter-of-a-nan-ratio", answer: .stopped) {
    var converter = VariableRateConverter(channelCount: 1, maximumInputPerOutput: 1)
    converter.setRatio(.nan)
  },
  Mistake(name: "shift-of-negative-channels", answer: .stopped) {
    var shift = FrameShift(fraction: .nan, channelCount: -1)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    shift.process(&buffer, frames: 64)
  },
  Mistake(name: "transform-of-other-length", answer: .stopped) {
    guard let transform = FourierTransform(atLeast: 64) else { return }
    var bins = [ComplexFloat](repeating: ComplexFloat(0, 0), count: 1)
    transform.spectrum(of: [0], into: &bins)
  },
  Mistake(name: "spectrum-of-other-length", answer: .stopped) {
    guard let transform = FourierTransform(atLeast: 64) else { return }
    _ = transform.signal(of: [ComplexFloat(0, 0)])
  },
  Mistake(name: "meter-of-other-channels", answer: .stopped) {
    var meter = LoudnessMeter(sampleRate: 48000, channelCount: 2)
    meter.add(SampleBuffer(frameCount: 64, channelCount: 1), frames: 64)
  },
  Mistake(name: "meter-of-rate-0", answer: .harmless) {
    var meter = LoudnessMeter(sampleRate: 0, channelCount: 2)
    meter.add(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    _ = meter.levels
  },
  Mistake(name: "peak-of-no-channel", answer: .stopped) {
    print(TruePeaks(sampleRate: 48000, channelCount: 2)[2])
  },
  Mistake(name: "cleaner-of-rate-0", answer: .thrown) {
    var settings = CleaningSettings.none
    settings.denoise = true
    _ = try VoiceCleaner(settings, sampleRate: 0, channelCount: 1)
  },
  Mistake(name: "cleaner-of-no-channels", answer: .thrown) {
    _ = try VoiceCleaner(CleaningSettings.none, sampleRate: 48000, channelCount: 0)
  },
  Mistake(name: "cleaner-of-other-channels", answer: .stopped) {
    var cleaner = try VoiceCleaner(CleaningSettings.none, sampleRate: 48000, channelCount: 1)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    cleaner.clean(&buffer, frames: 64)
  },
  Mistake(name: "limiter-beyond-a-buffer", answer: .stopped) {
    var limiter = Limiter(limit: 0.5, sampleRate: 48000)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    limiter.process(&buffer, frames: 65)
  },
  Mistake(name: "gain-beyond-a-buffer", answer: .stopped) {
    var gain = SmoothedGain(Gain(factor: 0.5))
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    gain.process(&buffer, frames: 65)
  },
  Mistake(name: "balance-of-one-channel", answer: .stopped) {
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    buffer.balance(frames: 64, left: 1, right: 1)
  },
  Mistake(name: "bus-of-other-channels", answer: .stopped) {
    var bus = MixerBus(periodFrames: 64, channelCount: 2)
    var sound = SampleBuffer(frameCount: 64, channelCount: 1)
    bus.begin(frames: 64, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    bus.add(&sound, frames: 64)
  },
  Mistake(name: "bus-longer-than-its-period", answer: .stopped) {
    var bus = MixerBus(periodFrames: 64, channelCount: 2)
    bus.begin(frames: 65, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    bus.clear()
  },
  Mistake(name: "clock-of-rate-0", answer: .harmless) {
    var clock = FilteredClock(framesPerSecond: 0)
    for second in 0..<10 {
      clock.take(ClockReading(frames: second, nanoseconds: UInt64(second) * 1_000_000_000))
    }
    _ = clock.frames(at: .max)
  },
  Mistake(name: "clock-that-runs-backwards", answer: .harmless) {
    var clock = FilteredClock(framesPerSecond: 48000)
    clock.take(ClockReading(frames: .max, nanoseconds: .max))
    clock.take(ClockReading(frames: .min, nanoseconds: 0))
    _ = clock.frames(at: 1)
  },
  Mistake(name: "gate-of-no-shape", answer: .stopped) {
    var gate = VoiceGate(VoiceSettings(sampleRate: 0, channelCount: 0))
    gate.process(SampleBuffer(frameCount: 64, channelCount: 2), from: 0, frames: 64)
    gate.finish()
  },
  Mistake(name: "gate-beyond-a-buffer", answer: .stopped) {
    var gate = VoiceGate(VoiceSettings(sampleRate: 48000, channelCount: 2))
    gate.process(SampleBuffer(frameCount: 64, channelCount: 2), from: 32, frames: 64)
  },
  Mistake(name: "window-of-negative-frames", answer: .harmless) {
    var gate = WindowGate(PunchWindow(firstFrame: -5, frames: -5))
    gate.process(SampleBuffer(frameCount: 64, channelCount: 2), from: 0, frames: 64)
    gate.finish()
  },
  Mistake(name: "clicks-of-tempo-0", answer: .harmless) {
    let clicks = ClickTrack(beats: 4, tempo: 0, sampleRate: 48000, channelCount: 2)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    _ = try clicks.read(into: &buffer, frames: 64)
  },
  Mistake(name: "delay-in-nothing", answer: .harmless) {
    let nothing: [Float] = []
    _ = DelayEstimator().estimate(reference: nothing.span, in: nothing.span)
  },
  Mistake(name: "delay-outside-of-the-sound", answer: .harmless) {
    let sound = [Float](repeating: 0.5, count: 100)
    _ = DelayEstimator().estimate(
      reference: sound.span, in: sound.span, lags: -1_000_000 ..< -999_000)
  },
  Mistake(name: "probe-of-no-channels", answer: .stopped) {
    _ = ProbeSession(
      ProbePlan(sampleRate: 0, captureChannels: 0, playbackChannels: 0, unitLatencyFrames: 0),
      periodFrames: 0)
  },
  Mistake(name: "parameter-out-of-range", answer: .harmless) {
    let parameter = EffectParameter(.nan, in: 0...1)
    parameter.value = 5
    var ramp = parameter.makeRamp(seconds: -1)
    ramp.prepare(EffectFormat(sampleRate: 0, channelCount: 0, maximumFrames: 0))
    _ = ramp.advance(frames: -1)
  },
]
