import AudioBasics
import AudioDevices
import AudioSessions
import Glibc
import RealtimeAudio

/// A simulated room in virtual time: the output returns to the microphone after a delay, through a
/// resonance and with a gain. Another sound is added at the microphone.
package struct LoopRig: Sendable {
  package var sampleRate = 16000
  package var periodFrames = 64
  /// The loop's gain at its resonance in dB; nil for no loop.
  package var gainDB: Double?
  package var frequency = 1000.0
  /// The quality factor of the resonance; nil for a room with a flat frequency response.
  package var quality: Double? = 10
  package var delaySeconds = 0.02
  /// Whether the microphone clips at full scale.
  package var clips = true

  /// Creates a room without a loop.
  package init() {}

  /// Returns a random room: a resonance between 100 Hz and 6.4 kHz, narrow, broad or absent, with a
  /// delay of 2 to 62 ms.
  package static func room(_ seed: UInt64, gainDB: Double?) -> LoopRig {
    var chance = Chance(seed &+ 77)
    var rig = LoopRig()
    rig.gainDB = gainDB
    rig.quality = [10, 3, nil][Int(seed % 3)]
    rig.frequency = 100 * pow(64, (chance.next() + 1) / 2)
    rig.delaySeconds = 0.002 + 0.06 * (chance.next() + 1) / 2
    return rig
  }

  /// Returns the other sound at the microphone: noise at -70 dBFS, and a word if the seed is even.
  package func quiet(_ seed: UInt64) -> (Int) -> Float {
    var chance = Chance(seed)
    return { frame in
      let seconds = Double(frame) / Double(sampleRate)
      var sound = chance.next() * 0.0005
      if seed.isMultiple(of: 2) && seconds > 0.2 && seconds < 0.5 {
        let swell = sin(.pi * (seconds - 0.2) / 0.3)
        sound += 0.1 * swell * sin(2 * .pi * 140 * seconds) * (1 + chance.next() * 0.5)
      }
      return Float(sound)
    }
  }

  /// The result of a run.
  package struct Result: Sendable {
    package var highest: Float = 0
    /// The times at which the output was ducked, and the detected frequencies.
    package var ducks: [(seconds: Double, frequencyHz: Double)] = []
    /// The level of each 10 ms of the output in dB; a full-scale sine has -3 dB.
    package var levels: [Double] = []
    /// The highest sample of each 10 ms.
    package var peaks: [Float] = []

    /// The time in seconds for which the output was above -20 dBFS after it had reached the limit.
    package var painSeconds: Double {
      guard let first = peaks.firstIndex(where: { $0 > 0.885 }) else { return 0 }
      return Double(levels[first...].count { $0 > -23 }) / 100
    }
  }

  /// Runs the loop for `seconds` with `sound` at the microphone.
  package func run(seconds: Double, sound: (Int) -> Float) -> Result {
    let events = FeedbackEventWriter(sampleRate: sampleRate)
    var reader = events.makeReader()
    var protection = MonitorProtection(
      sampleRate: sampleRate, dimRequest: PublishedFlag().makeView())
    protection.limiter = Limiter(limit: 0.891, sampleRate: sampleRate)
    protection.feedbackSuppressor = FeedbackSuppressor(
      sampleRate: sampleRate, channelCount: 1, events: events)
    let rate = Double(sampleRate)
    let delay = max(periodFrames, Int(clamping: delaySeconds * rate))
    // The loop delay of a howl is a whole number of its periods.
    let tone = max(1, (frequency * Double(delay) / rate).rounded()) * rate / Double(delay)
    var room = Resonance(frequency: tone, quality: quality ?? 1, rate: rate)
    let gain = gainDB.map { Double(Gain(decibels: $0).factor) }
    var line = [Float](repeating: 0, count: delay)
    var bus = MixerBus(periodFrames: periodFrames, channelCount: 1)
    var result = Result()
    var power = 0.0
    var peak: Float = 0
    var measured = 0
    for start in stride(from: 0, to: Int(clamping: seconds * rate), by: periodFrames) {
      for index in 0..<periodFrames {
        var back = 0.0
        if let gain {
          let played = Double(line[(start + index) % delay])
          back = gain * (quality == nil ? played : room.next(played))
        }
        let captured = sound(start + index) + Float(back)
        bus.buffer[index] = clips ? max(-1, min(1, captured)) : captured
      }
      bus.begin(
        frames: periodFrames, at: CycleTime(frame: start, nanoseconds: 0, lostFrames: 0))
      protection.processMicrophone(&bus)
      protection.processMix(&bus)
      for index in 0..<periodFrames {
        let sample = bus.buffer[index]
        line[(start + index) % delay] = sample
        result.highest = max(result.highest, abs(sample))
        power += Double(sample * sample)
        peak = max(peak, abs(sample))
      }
      measured += periodFrames
      if measured * 100 >= sampleRate * (result.levels.count + 1) {
        let frames = rate / 100
        result.levels.append(10 * log10(power / frames + 1e-20))
        result.peaks.append(peak)
        (power, peak) = (0, 0)
      }
      while let event = reader.next() {
        guard event.state == .ducked else { continue }
        result.ducks.append((Double(start) / rate, event.frequencyHz))
      }
    }
    return result
  }
}

/// A second-order band-pass with 0 dB at its centre (R. Bristow-Johnson's cookbook).
private struct Resonance {
  private let gain: Double
  private let first: Double
  private let second: Double
  private var inputs = (0.0, 0.0)
  private var outputs = (0.0, 0.0)

  init(frequency: Double, quality: Double, rate: Double) {
    let angle = 2 * Double.pi * frequency / rate
    let alpha = sin(angle) / (2 * quality)
    gain = alpha / (1 + alpha)
    first = -2 * cos(angle) / (1 + alpha)
    second = (1 - alpha) / (1 + alpha)
  }

  mutating func next(_ input: Double) -> Double {
    let output = gain * (input - inputs.1) - first * outputs.0 - second * outputs.1
    inputs = (input, inputs.0)
    outputs = (output, outputs.0)
    return output
  }
}
