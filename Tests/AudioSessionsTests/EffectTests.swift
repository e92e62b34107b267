import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio
import SimulatedDevices
import Testing

/// An effect that multiplies the samples by a sine: the example of `AudioEffect`.
private struct RingModulator: AudioEffect {
  var phase: Float = 0
  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    for frame in 0..<frames.count {
      phase += 440 / Float(frames.sampleRate)
      if phase >= 1 { phase -= 1 }
      let carrier = RealtimeMath.sin(2 * .pi * phase)
      for channel in 0..<frames.channelCount { frames[frame, channel] *= carrier }
    }
  }
}

/// An effect that sets every sample and publishes the highest sample received, multiplied by 1000.
private struct Generator: AudioEffect, ~Copyable {
  var level: ParameterRamp
  var heard: PublishedValue
  var highest: Float = 0

  mutating func prepare(_ format: EffectFormat) { level.prepare(format) }

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    var frame = 0
    while frame < frames.count {
      let value = level.next()
      var channel = 0
      while channel < frames.channelCount {
        if frames[frame, channel] > highest { highest = frames[frame, channel] }
        frames[frame, channel] = value
        channel &+= 1
      }
      frame &+= 1
    }
    heard.publish(Int(clamping: highest * 1000))
  }
}

/// An effect that multiplies by a number and records the formats for which it was prepared.
private struct Multiplier: AudioEffect {
  let factor: Float
  let formats: MutexBox<[EffectFormat]>

  mutating func prepare(_ format: EffectFormat) { formats.withLock { $0.append(format) } }

  mutating func process(_ frames: inout EffectFrames) {
    for sample in 0..<frames.sampleCount { frames[sample] *= factor }
  }
}

/// An effect that reports its deallocation.
private struct Kept: AudioEffect, ~Copyable {
  let freed: AtomicFlag
  @_noLocks mutating func process(_ frames: inout EffectFrames) {}
  deinit { freed.raise() }
}

/// Work that runs effects until the flag is raised and counts impossible results.
private struct Running: RealtimeWork, ~Copyable {
  var insert: EffectInsert
  let isOver: AtomicFlag
  var wrong = 0

  mutating func run() {
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    while !isOver.isRaised {
      for index in 0..<128 { buffer[index] = 1 }
      insert.process(&buffer, frames: 64)
      if ![0.5, 1, 2].contains(buffer[0]) { wrong += 1 }
    }
  }
}

@Suite struct EffectTests {
  private func format(_ channels: Int = 2, _ frames: Int = 64) -> EffectFormat {
    EffectFormat(sampleRate: 48000, channelCount: channels, maximumFrames: frames)
  }

  private func ones(_ frames: Int = 64, _ channels: Int = 2) -> SampleBuffer {
    var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
    for index in 0..<buffer.sampleCount { buffer[index] = 1 }
    return buffer
  }

  @Test func `an effect changes exactly the frames of the cycle`() {
    var insert = EffectInsert(RingModulator())
    insert.prepare(format())
    var buffer = ones()
    insert.process(&buffer, frames: 32)
    let angle = Float(440) / 48000 * 2 * .pi
    #expect(abs(buffer[0] - RealtimeMath.sin(angle)) < 1e-6)
    #expect(abs(buffer[63] - RealtimeMath.sin(32 * angle)) < 1e-4)
    #expect(buffer[64] == 1)
  }

  @Test func `effects run in the order in which they were added`() {
    let formats = MutexBox<[EffectFormat]>([])
    let level = EffectParameter(0.25)
    var insert = EffectInsert(Multiplier(factor: 3, formats: formats))
    insert.append(Generator(level: level.makeRamp(), heard: PublishedValue()))
    insert.append(Multiplier(factor: 2, formats: formats))
    insert.prepare(format())
    #expect(formats.withLock { $0 } == [format(), format()])
    var buffer = ones()
    insert.process(&buffer, frames: 64)
    #expect(buffer[0] == 0.5 && buffer[127] == 0.5)
  }

  @Test func `after the removal of an effect the others run on in their order`() {
    let formats = MutexBox<[EffectFormat]>([])
    var insert = EffectInsert()
    let ids = [2, 3, 5].map { insert.append(Multiplier(factor: $0, formats: formats)) }
    insert.prepare(format())
    for (gone, product) in [(ids[1], Float(10)), (ids[0], 5), (ids[1], 5), (ids[2], 1)] {
      insert.remove(gone)
      var buffer = ones()
      insert.process(&buffer, frames: 64)
      #expect(buffer[0] == product && buffer[127] == product)
    }
    var isEmpty = insert.isEmpty
    #expect(isEmpty)
    insert.append(Multiplier(factor: 7, formats: formats))
    var buffer = ones()
    insert.process(&buffer, frames: 64)
    #expect(buffer[0] == 7)
    insert.removeAll()
    isEmpty = insert.isEmpty
    #expect(isEmpty)
  }

  @Test func `effects can be added and removed while they run`() {
    let insert = EffectInsert()
    var running = insert.share()
    running.prepare(format())
    let isOver = AtomicFlag()
    let formats = MutexBox<[EffectFormat]>([])
    let thread = try? RealtimeThread(
      name: "effects", priority: .normal, Running(insert: running, isOver: isOver))
    for _ in 0..<2000 {
      let first = insert.append(Multiplier(factor: 2, formats: formats))
      let second = insert.append(Multiplier(factor: 0.5, formats: formats))
      insert.remove(first)
      insert.remove(second)
    }
    isOver.raise()
    #expect(thread?.join().wrong == 0)
  }

  @Test func `an effect that does not return does not prevent changes of other effects`() {
    /// An effect that blocks in its first call, as a user's effect may that waits for a lock.
    struct Hanging: AudioEffect {
      let hangs: AtomicFlag
      let released: AtomicFlag
      mutating func process(_ frames: inout EffectFrames) {
        hangs.raise()
        while !released.isRaised { HostClock.pause(milliseconds: 1) }
      }
    }
    let (hangs, released, isOver) = (AtomicFlag(), AtomicFlag(), AtomicFlag())
    let insert = EffectInsert()
    let id = insert.append(Hanging(hangs: hangs, released: released))
    var running = insert.share()
    running.prepare(format())
    let thread = try? RealtimeThread(
      name: "effects", priority: .normal, Running(insert: running, isOver: isOver))
    while !hangs.isRaised { HostClock.pause(milliseconds: 1) }
    let isRemoved = insert.remove(id)
    #expect(isRemoved)
    // Another thread runs the present effects, while the blocked call may still return.
    let formats = MutexBox<[EffectFormat]>([])
    let other = insert.append(Multiplier(factor: 2, formats: formats))
    var again = insert.share()
    again.prepare(format())
    var buffer = ones()
    again.process(&buffer, frames: 64)
    #expect(buffer[0] == 2)
    // Completed calls of other runs do not show that the blocked call has ended, so the effects
    // that it may run are not freed.
    let freed = AtomicFlag()
    let third = insert.append(Kept(freed: freed))
    for _ in 0..<5 { again.process(&buffer, frames: 64) }
    let isThirdRemoved = insert.remove(third)
    #expect(isThirdRemoved && !freed.isRaised)
    isOver.raise()
    released.raise()
    _ = thread?.join()
    let isOtherRemoved = insert.remove(other)
    #expect(isOtherRemoved)
    let isEmpty = insert.isEmpty
    #expect(isEmpty)
  }

  @Test func `a parameter ramps linearly and ends exactly at its value`() {
    let depth = EffectParameter(0, in: 0...1)
    var ramp = depth.makeRamp(seconds: 0.01)
    ramp.prepare(format())
    #expect(ramp.next() == 0)
    depth.value = 5
    #expect(depth.value == 1)
    var last: Float = 0
    for frame in 1...480 {
      let value = ramp.next()
      #expect(value > last && abs(value - Float(frame) / 480) < 1e-4)
      last = value
    }
    #expect(ramp.next() == 1)
    depth.value = .nan
    #expect(depth.value == 1)
    depth.value = 0.5
    #expect(abs(ramp.advance(frames: 240) - 0.75) < 1e-6)
    #expect(ramp.advance(frames: 10_000) == 0.5)
  }

  @Test(arguments: [true, false])
  func `a session runs the insert between microphone and output`(isMonitored: Bool) throws {
    let wire = try SimulatedDeviceSpecification(parsing: "sim:clock=free")
    var request = DuplexRequest(captureDevice: "sim", playbackDevice: "sim")
    request.periodFrames = 64
    let device = try SimulatedDevice(wire, request: request)
    var mixer = Mixer(periodFrames: 64, captureChannels: 2, playbackChannels: 2)
    if isMonitored { mixer.monitor = SmoothedGain(Gain(factor: 0.5)) }
    let level = EffectParameter(0.8)
    let heard = PublishedValue()
    let view = heard.makeView()
    mixer.insert = EffectInsert(Generator(level: level.makeRamp(), heard: heard))
    let runner = SessionRunner(
      device: device, callbacks: mixer, background: [], meter: nil, frameLimit: 4800)
    _ = try runner.run(clock: .virtual) { _, _ in .proceed }
    // The generated level returned over the wire at half the level; without a monitor the effect
    // received silence.
    #expect(abs(view.value - (isMonitored ? 400 : 0)) <= 1)
  }

  @Test func `the functions for the audio thread equal those of the C library`() {
    for value in [-3, -0.5, 0.1, 1, 2.5] {
      let single = Float(value)
      #expect(abs(Double(RealtimeMath.tanh(single)) - RealtimeMath.tanh(value)) < 1e-6)
      #expect(abs(Double(RealtimeMath.cos(single)) - RealtimeMath.cos(value)) < 1e-6)
      #expect(abs(RealtimeMath.log(RealtimeMath.exp(value)) - value) < 1e-12)
      #expect(abs(RealtimeMath.log(RealtimeMath.exp(single)) - single) < 1e-5)
      #expect(abs(RealtimeMath.sqrt(value * value) - abs(value)) < 1e-12)
      #expect(RealtimeMath.pow(single, 2) == single * single)
    }
  }
}
