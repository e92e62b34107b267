import Duplex

/// Wrong uses of buffers, ring buffers, converters and meters.
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
    let writer = EventWriter<TimelineEvent>()
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
  Mistake(name: "shift-of-less-than-no-channels", answer: .stopped) {
    var shift = FrameShift(fraction: 0.5, channelCount: -1)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    shift.process(&buffer, frames: 64)
  },
  Mistake(name: "frames-whose-sum-overflows", answer: .stopped) {
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    buffer.copy(SampleBuffer(frameCount: 64, channelCount: 2), from: .max, at: .max, frames: .max)
  },
  Mistake(name: "four-samples-far-beyond-a-buffer", answer: .stopped) {
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    buffer.setFourSamples(.zero, at: .max)
  },
  Mistake(name: "meter-of-too-many-channels", answer: .stopped) {
    _ = TruePeaks(sampleRate: 48000, channelCount: .max)
  },
  Mistake(name: "prediction-of-less-than-nothing", answer: .stopped) {
    var after = SampleBuffer(frameCount: 4, channelCount: 1)
    LinearExtrapolation.extrapolate(
      after: SampleBuffer(frameCount: 4, channelCount: 1), frames: -1, into: &after, count: 4)
  },
  Mistake(name: "weights-without-width", answer: .stopped) {
    var taps = SampleBuffer(frameCount: 1, channelCount: 8)
    WindowedSinc.design(&taps, row: 0, halfWidth: -1, fraction: 0)
  },
  Mistake(name: "settling-at-rate-0", answer: .harmless) {
    _ = BlockRateConverter.settlingFrames(quality: 5, inputRate: 0, outputRate: 0)
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
  Mistake(name: "samples-of-half-a-frame", answer: .stopped) {
    _ = SampleBuffer([0, 0, 0], channelCount: 2)
  },
  Mistake(name: "samples-of-no-channels", answer: .stopped) {
    _ = SampleBuffer([0, 0, 0], channelCount: 0)
  },
  Mistake(name: "channel-beyond-a-buffer", answer: .stopped) {
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    buffer[0, 2] = 0
  },
  Mistake(name: "limiter-of-rate-0", answer: .stopped) {
    _ = Limiter(limit: 0.5, sampleRate: 0)
  },
  Mistake(name: "limiter-at-no-number", answer: .harmless) {
    var limiter = Limiter(limit: .nan, sampleRate: 48000)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    buffer[0] = .infinity
    limiter.process(&buffer, frames: 64)
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
  Mistake(name: "gate-of-the-largest-rate", answer: .harmless) {
    var gate = VoiceGate(VoiceSettings(sampleRate: .max, channelCount: 2))
    gate.process(SampleBuffer(frameCount: 64, channelCount: 2), from: 0, frames: 64)
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
  Mistake(name: "clicks-of-negative-numbers", answer: .harmless) {
    for (beats, tempo) in [(-1, 120.0), (4, -120), (4, .nan), (.min, .infinity), (.max, 1e-300)] {
      let clicks = ClickTrack(beats: beats, tempo: tempo, sampleRate: 48000, channelCount: 2)
      var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
      _ = try clicks.read(into: &buffer, frames: 64)
    }
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
  Mistake(name: "ratio-of-rate-0", answer: .stopped) {
    _ = RateRatio(inputRate: 0, outputRate: 0)
  },
  Mistake(name: "ratio-of-the-least-rate", answer: .stopped) {
    _ = RateRatio(inputRate: .min, outputRate: -1)
  },
  Mistake(name: "burst-without-end", answer: .stopped) {
    _ = ProbeSignal(seed: 0, frames: .max, rampFrames: .max)
  },
  Mistake(name: "parameter-out-of-range", answer: .harmless) {
    let parameter = EffectParameter(.nan, in: 0...1)
    parameter.value = 5
    var ramp = parameter.makeRamp(seconds: -1)
    ramp.prepare(EffectFormat(sampleRate: 0, channelCount: 0, maximumFrames: 0))
    _ = ramp.advance(frames: -1)
  },
]
