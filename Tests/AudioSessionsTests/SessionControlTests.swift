import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices
import Testing

@testable import AudioSessions

@Suite struct SessionControlTests {
  /// A mixer in a unit with a silent microphone; the output and the microphone are recorded.
  struct Rig: ~Copyable {
    private var unit: DuplexUnit<Mixer>
    private var output: RecordingReader
    private var microphone: RecordingReader

    init(
      _ control: SessionControl, playsMicrophone: Bool = true,
      _ change: (inout Mixer) -> Void = { _ in }
    ) throws {
      let name = "sim:clock=free,gain=-200"
      var request = DuplexRequest(captureDevice: name, playbackDevice: name)
      request.periodFrames = 64
      request.channelCount = 1
      let device = DuplexDevice(
        try SimulatedDevice(SimulatedDeviceSpecification(parsing: name), request: request))
      let configuration = device.configuration
      var mixer = Mixer(configuration)
      control.install(on: &mixer, configuration, playsMicrophone: playsMicrophone)
      let played = Recorder(frameCount: 96000, channelCount: 1, sampleRate: 48000)
      let playedReader = played.makeReader()
      mixer.outputRecorder = consume played
      let heard = Recorder(frameCount: 96000, channelCount: 1, sampleRate: 48000)
      let heardReader = heard.makeReader()
      mixer.inputRecorder = consume heard
      change(&mixer)
      var started = DuplexUnit(device: device, callbacks: mixer, progress: UnitProgress())
      try started.start()
      unit = started
      output = playedReader
      microphone = heardReader
    }

    mutating func cycle(_ count: Int) { for _ in 0..<count { _ = unit.cycle() } }

    /// Returns the frames played or recorded from the microphone since the last call.
    mutating func played() -> [Float] { Self.all(&output) }
    mutating func recorded() -> [Float] { Self.all(&microphone) }

    /// Returns which optional parts the mixer has.
    mutating func parts() -> [Bool] {
      [
        unit.callbacks.insert != nil, unit.callbacks.inputInsert != nil,
        unit.callbacks.outputGain != nil, unit.callbacks.outputInsert != nil,
      ]
    }

    mutating func fullScale() -> Float? {
      unit.callbacks.protection?.feedbackSuppressor?.limits.leveller.fullScale
    }

    private static func all(_ reader: inout RecordingReader) -> [Float] {
      var chunk = SampleBuffer(frameCount: 4096, channelCount: 1)
      var result: [Float] = []
      while true {
        let count = reader.read(into: &chunk, frames: 4096)
        guard count > 0 else { return result }
        for index in 0..<count { result.append(chunk[index]) }
      }
    }
  }

  /// An effect that multiplies by a number.
  struct Multiplier: AudioEffect {
    let factor: Float

    @_noLocks mutating func process(_ frames: inout EffectFrames) {
      for sample in 0..<frames.sampleCount { frames[sample] *= factor }
    }
  }

  /// An effect that plays a constant.
  struct Constant: AudioEffect {
    @_noLocks mutating func process(_ frames: inout EffectFrames) {
      for sample in 0..<frames.sampleCount { frames[sample] = 0.5 }
    }
  }

  @Test(arguments: [true, false])
  func `a new gain is reached without a step`(isOfOutput: Bool) throws {
    let control = SessionControl()
    control.insert(Constant(), at: .input)
    var rig = try Rig(control)
    rig.cycle(20)
    var last = rig.played().last
    #expect(last == 0.5)
    for wanted: Float in [0.5, 0, 2, 2] {
      if isOfOutput {
        control.outputGain = Gain(factor: wanted)
      } else {
        control.monitorGain = Gain(factor: wanted)
      }
      rig.cycle(8)
      for sample in rig.played() {
        #expect(abs(sample - (last ?? 0)) <= 1.01 / 480)
        last = sample
      }
      #expect(last == 0.5 * wanted)
      #expect((isOfOutput ? control.outputGain : control.monitorGain).factor == wanted)
    }
  }

  @Test func `an effect on the input is recorded and played, one on the monitor only played`()
    throws
  {
    let control = SessionControl()
    control.insert(Constant(), at: .input)
    var rig = try Rig(control)
    rig.cycle(20)
    var last = [rig.played().last, rig.recorded().last]
    #expect(last == [0.5, 0.5])
    control.insert(Multiplier(factor: 0.5), at: .monitor)
    rig.cycle(2)
    last = [rig.played().last, rig.recorded().last]
    #expect(last == [0.25, 0.5])
    control.insert(Multiplier(factor: 0.5), at: .input)
    rig.cycle(2)
    last = [rig.played().last, rig.recorded().last]
    #expect(last == [0.125, 0.25])
  }

  @Test func `an effect on the monitor generates sound without a monitored microphone`() throws {
    let control = SessionControl()
    control.insert(Constant(), at: .monitor)
    var rig = try Rig(control, playsMicrophone: false)
    rig.cycle(2)
    let (played, recorded) = (rig.played().last ?? 0, rig.recorded().last ?? 1)
    #expect(played == 0.5 && abs(recorded) < 1e-6)
  }

  /// Microphone and player are constants, whose sum the effect halves.
  @Test func `an effect on the output processes microphone and player, and is removed again`()
    throws
  {
    let control = SessionControl()
    control.insert(Constant(), at: .input)
    var ring = SampleWriter(frameCount: 4096, channelCount: 1)
    var quarters = SampleBuffer(frameCount: 4096, channelCount: 1)
    for frame in 0..<4096 { quarters[frame] = 0.25 }
    #expect(ring.write(quarters, frames: 4096) == 4096)
    var rig = try Rig(control) { mixer in
      mixer.player = PlayerStage(ring: ring.makeReader(), channelCount: 1, periodFrames: 64)
    }
    rig.cycle(20)
    #expect(rig.played().last == 0.75)
    let halving = control.insert(Multiplier(factor: 0.5), at: .output)
    rig.cycle(2)
    let last = [rig.played().last, rig.recorded().last]
    #expect(last == [0.375, 0.5])
    #expect(control.remove(halving) && !control.remove(halving))
    rig.cycle(2)
    #expect(rig.played().last == 0.75)
  }

  @Test func `the mixer's own effects are kept, whatever the control requests`() throws {
    let control = SessionControl()
    control.insert(Multiplier(factor: 0.5), at: .monitor)
    control.insert(Multiplier(factor: 0.5), at: .input)
    var rig = try Rig(control) { mixer in
      mixer.inputInsert = EffectInsert()
      mixer.inputInsert?.append(Constant())
      mixer.insert = EffectInsert()
      mixer.insert?.append(Multiplier(factor: 0.25))
    }
    rig.cycle(20)
    for gain: Float in [1, 0.5, 1, 0.5] {
      control.outputGain = Gain(factor: gain)
      rig.cycle(20)
      let last = [rig.played().last, rig.recorded().last]
      #expect(last == [0.125 * gain, 0.5])
    }
  }

  @Test func `unused parts are not added to the mixer`() throws {
    let control = SessionControl()
    var rig = try Rig(control)
    rig.cycle(2)
    var parts = rig.parts()
    #expect(parts == [false, false, false, false])
    control.inputGain = .silence
    rig.cycle(2)
    parts = rig.parts()
    #expect(parts == [false, false, false, false])
    control.insert(Multiplier(factor: 1), at: .input)
    control.outputGain = .silence
    rig.cycle(1)
    parts = rig.parts()
    #expect(parts == [false, true, true, false])
    control.insert(Multiplier(factor: 1), at: .output)
    rig.cycle(1)
    parts = rig.parts()
    #expect(parts == [false, true, true, true])
  }

  @Test func `the feedback suppressor is given the product of both microphone gains`() throws {
    let control = SessionControl()
    control.inputGain = Gain(factor: 0.5)
    control.monitorGain = Gain(factor: 0.5)
    var rig = try Rig(control) { mixer in
      var protection = MonitorProtection(
        sampleRate: 48000, dimRequest: PublishedFlag().makeView())
      protection.feedbackSuppressor = FeedbackSuppressor(
        sampleRate: 48000, channelCount: 1, fullScale: mixer.microphoneGain.factor,
        events: FeedbackEventWriter(sampleRate: 48000))
      mixer.protection = consume protection
    }
    let first = rig.fullScale()
    #expect(first == 0.25)
    control.monitorGain = .unity
    rig.cycle(1)
    let second = rig.fullScale()
    #expect(second == 0.5)
  }

  @Test(arguments: [1, 2, 3, 4, 8])
  func `the peak found by a meter equals that of the frames`(channels: Int) {
    for frames in [0, 1, 7, 64] {
      var buffer = SampleBuffer(frameCount: 64, channelCount: channels)
      for index in 0..<64 * channels { buffer[index] = Float((index * 37) % 101) / 100 - 0.6 }
      var levels = SampleBuffer(frameCount: 1, channelCount: Meter.readingWidth(channels))
      // Earlier contents do not influence the measurement.
      levels[0] = 9
      let measured = buffer.measure(frames: frames, into: &levels)
      let peak = buffer.peak(frames: frames)
      #expect(measured == peak)
    }
  }
}
