import Duplex

/// Records 0.1 seconds with settings after `change`.
private func record(_ change: (inout RecordingSettings) -> Void) async throws {
  let engine = DuplexEngine(device: "sim:clock=free")
  var settings = RecordingSettings()
  settings.overwrite = true
  change(&settings)
  let recording = try await engine.record(to: "senseless.wav", settings)
  try await engine.run(seconds: 0.1)
  if let failure = recording.report?.failure { throw failure }
}

/// Wrong uses of engines, their players, recordings and effects.
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
  Mistake(name: "recording-in-a-home-that-no-shell-replaced", answer: .thrown) {
    let engine = DuplexEngine(device: "sim:clock=free")
    try await engine.record(to: "~/take.wav")
    try await engine.start()
  },
  Mistake(name: "recording-with-a-negative-ring", answer: .thrown) {
    try await record { $0.ringSeconds = -1 }
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
    for _ in 0...EffectInsert.maximumEffects { engine.insert(Reaching(beyond: -1)) }
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
    settings.range = PlaybackRange(startFrame: 10, endFrame: -10, times: -1)
    try await play { $0.enqueue(Decoder(), settings: settings) }
  },
  Mistake(name: "speeds-that-are-none", answer: .harmless) {
    for speed in [0, -1, -.infinity, .infinity, .nan, 1e-300, 1e300] {
      var settings = TrackSettings()
      settings.speed = speed
      do {
        try await play { $0.enqueue(Decoder(), settings: settings) }
        throw EngineFailure.stopped
      } catch is FileFailure {}
    }
  },
  Mistake(name: "track-from-before-its-beginning", answer: .harmless) {
    for isReversed in [false, true] {
      for (start, end) in [
        (Int.min, Int?.none), (.max, nil), (.min, .min), (.max, .max), (.max, .min),
      ] {
        var settings = TrackSettings()
        settings.range.isReversed = isReversed
        (settings.range.startFrame, settings.range.endFrame) = (start, end)
        let player = AudioPlayer()
        player.enqueue(Decoder(), settings: settings)
        player.choose(0, atFrame: .min)
        player.choose(0, atFrame: .max)
        try? player.seek(bySeconds: -1e300)
        try? player.seek(bySeconds: 1e300)
        try? await play { $0.enqueue(Decoder(), settings: settings) }
      }
    }
  },
  Mistake(name: "file-of-less-than-nothing", answer: .harmless) {
    try await record { $0.split = .bytes(.min) }
    try await record { $0.split = .frames(.min) }
  },
  Mistake(name: "window-without-end", answer: .harmless) {
    for first in [1, Int.min, .max] {
      for frames in [Int.max, .min, -1] {
        try await record {
          $0.gate = { _, _ in WindowGate(PunchWindow(firstFrame: first, frames: frames)) }
        }
        try await record {
          $0.gate = { _, _ in
            WindowGate(PunchWindow(), move: { _ in PunchWindow(firstFrame: first, frames: frames) })
          }
        }
      }
    }
  },
  Mistake(name: "pre-roll-without-end", answer: .thrown) {
    try await record { $0.gate = { _, _ in WindowGate(preRollFrames: .max) } }
  },
  Mistake(name: "voice-gate-of-other-channels", answer: .stopped) {
    try await record {
      $0.gate = { _, _ in VoiceGate(VoiceSettings(sampleRate: 44100, channelCount: 6)) }
    }
  },
  Mistake(name: "voice-gate-of-no-sense", answer: .harmless) {
    for seconds in [Double.infinity, -.infinity, .nan, 1e300, -1e300, 1e9] {
      for setting in [
        \VoiceSettings.preRollSeconds, \.holdSeconds, \.tailSeconds, \.minimumSeconds,
      ] {
        var settings = VoiceSettings(sampleRate: 48000, channelCount: 2)
        settings[keyPath: setting] = seconds
        let gate = VoiceGate(settings)
        _ = (gate.lookaheadFrames, gate.decidedFrame)
      }
    }
    var settings = VoiceSettings(sampleRate: 48000, channelCount: 2)
    settings.holdSeconds = .infinity
    settings.tailSeconds = .infinity
    try await record { [settings] in $0.gate = { _, _ in VoiceGate(settings) } }
  },
  Mistake(name: "channels-of-no-device", answer: .harmless) {
    _ = ChannelSelection([], of: 0)
    _ = Origination(nanosecondsSinceEpoch: .max, sampleRate: .max)
    _ = Origination(nanosecondsSinceEpoch: 0, sampleRate: .min)
  },
  Mistake(name: "channels-of-less-than-none", answer: .stopped) {
    _ = ChannelSelection([], of: -1)
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
    player.endingSoonLeadSeconds = -1
  },
]
