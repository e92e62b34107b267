import AudioLevels
import AudioSessions

/// The state of a running command, as a person sees it on the screen.
struct LiveState {
  /// What runs: "Recording to note.wav".
  var title = ""
  /// On which device, at what rate, in which format, with what latency.
  var device = ""
  /// Where it is: "0:06.1".
  var clock = ""
  /// How much is left: "9:53 left"; nil where nobody knows.
  var left: String?
  /// What the user has changed by keys, and what else is not as usual: "PAUSED".
  var states: [String] = []
  /// The part that is done, of 1; nil where its length is not known.
  var fraction: Double?
  /// Each channel's peak since the last reading, in dBFS; none where nothing is measured.
  var peaks: [Double] = []
  /// Each channel's root mean square, in dBFS.
  var means: [Double] = []
  /// Each channel's highest peak of the last seconds, in dBFS.
  var holds: [Double] = []
  /// Whether each channel has reached full scale.
  var clips: [Bool] = []
  /// Loudness and clipping, where something is recorded.
  var levels: ProgrammeLevels?
  /// Seconds until the disk is full; nil where that is not known.
  var diskSeconds: Double?
  /// Callback time over period in the last second, not a number before its end; nil where nothing
  /// sounds.
  var load: Double?
  var xruns = 0
  var lostFrames = 0
  /// The keys that mean something now, each with its word.
  var keys: [String] = []

  /// Samples that were clipped, in all channels.
  var clippedSamples: Int { levels?.clippedSamples.reduce(0, +) ?? 0 }
}

/// The levels of the last readings: what a meter shows.
struct MeterBallistics {
  private(set) var peaks: [Double] = []
  private(set) var means: [Double] = []
  private(set) var clips: [Bool] = []
  private var highest: [(level: Double, seconds: Double)] = []

  /// The highest full-scale sample of 16 bits is this far below 0 dBFS.
  private static let fullScaleDBFS = -0.001

  /// Of `channelCount` channels before the first reading.
  init(_ channelCount: Int = 0) {
    peaks = Array(repeating: -200, count: channelCount)
    means = peaks
    clips = peaks.map { _ in false }
    highest = peaks.map { ($0, 0) }
  }

  /// Falls to silence: nothing is measured any more. What clipped has clipped.
  mutating func fall() {
    let clips = clips
    self = MeterBallistics(peaks.count)
    self.clips = clips
  }

  /// Each channel's highest peak, held for two seconds.
  var holds: [Double] { highest.map(\.level) }

  /// Takes in the reading of a moment.
  mutating func follow(_ reading: MeterReading, seconds: Double) {
    peaks = reading.peakDBFS
    means = reading.rmsDBFS
    if highest.count != peaks.count {
      highest = peaks.map { ($0, seconds) }
      clips = peaks.map { _ in false }
    }
    for (channel, level) in peaks.enumerated() {
      if level >= highest[channel].level || seconds > highest[channel].seconds + 2 {
        highest[channel] = (level, seconds)
      }
      if level >= Self.fullScaleDBFS { clips[channel] = true }
    }
  }
}

/// The load of the audio thread: callback time over period, averaged over a second.
struct LoadAverage {
  private var cycles = 0
  private var busyNanoseconds: UInt64 = 0
  private var seconds = 0.0
  /// Callback time over period; nil in the first second.
  private(set) var value: Double?

  /// Takes in what a moment at `seconds` says of a unit whose period takes `periodSeconds`.
  mutating func follow(_ moment: SessionMoment, seconds: Double, periodSeconds: Double) {
    guard seconds >= self.seconds + 1, moment.cycles > cycles, periodSeconds > 0 else { return }
    let busy = Double(moment.busyNanoseconds &- busyNanoseconds) * 1e-9
    value = busy / Double(moment.cycles - cycles) / periodSeconds
    (cycles, busyNanoseconds, self.seconds) = (moment.cycles, moment.busyNanoseconds, seconds)
  }
}

/// The task that runs, where it is neither a plain recording nor files that play.
struct LiveTask {
  /// "Overdubbing song.wav to take.wav".
  var title: String
  /// How many frames it takes; nil where that is not known.
  var frames: Int?
  /// The frame at which what it is about begins, behind a count-in; time counts from there on.
  var firstFrame = 0
  /// How it gets on, where that is not told by time alone: what is under way and left, and the part
  /// that is done.
  var progress: () -> (text: String, fraction: Double)? = { nil }

  init(_ title: String, firstFrame: Int = 0, frames: Int? = nil) {
    self.title = title
    self.firstFrame = firstFrame
    self.frames = frames
  }
}
