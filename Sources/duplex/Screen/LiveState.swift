import AudioLevels
import AudioSessions

/// The state of a running command that is shown on the screen.
struct LiveState {
  /// The title of the task: "Recording to note.wav".
  var title = ""
  /// The device, its sample rate and format, and the latency.
  var device = ""
  /// The position: "0:06.1".
  var clock = ""
  /// The remaining time: "9:53 left"; nil if it is unknown.
  var left: String?
  /// The states that the user has changed by keys, and others that differ from normal: "PAUSED".
  var states: [String] = []
  /// The completed fraction from 0 to 1; nil if the length is unknown.
  var fraction: Double?
  /// The peak of each channel since the last reading, in dBFS; empty if nothing is measured.
  var peaks: [Double] = []
  /// The root mean square of each channel, in dBFS.
  var means: [Double] = []
  /// The highest peak of each channel in the last seconds, in dBFS.
  var holds: [Double] = []
  /// Whether each channel has reached full scale.
  var clips: [Bool] = []
  /// The loudness and the clipped samples of a recording; nil if nothing is recorded.
  var levels: ProgrammeLevels?
  /// The seconds until the disk is full; nil if they are unknown.
  var diskSeconds: Double?
  /// The callback time divided by the period, averaged over the last second; not a number (NaN) in
  /// the first second, nil while no device runs.
  var load: Double?
  var xruns = 0
  var lostFrames = 0
  /// The keys that have an effect now, each with a short description.
  var keys: [String] = []

  /// The number of clipped samples in all channels.
  var clippedSamples: Int { levels?.clippedSamples.reduce(0, +) ?? 0 }
}

/// The levels of the last readings, as a meter shows them.
struct MeterBallistics {
  private(set) var peaks: [Double] = []
  private(set) var means: [Double] = []
  private(set) var clips: [Bool] = []
  private var highest: [(level: Double, seconds: Double)] = []

  /// The threshold for full scale in dBFS: the highest sample of 16 bits is slightly below 0 dBFS.
  private static let fullScaleDBFS = -0.001

  /// Creates the levels of `channelCount` channels before the first reading.
  init(_ channelCount: Int = 0) {
    peaks = Array(repeating: -200, count: channelCount)
    means = peaks
    clips = peaks.map { _ in false }
    highest = peaks.map { ($0, 0) }
  }

  /// Sets the levels to silence, because nothing is measured any more. Clipping remains marked.
  mutating func fall() {
    let clips = clips
    self = MeterBallistics(peaks.count)
    self.clips = clips
  }

  /// The highest peak of each channel, held for two seconds.
  var holds: [Double] { highest.map(\.level) }

  /// Processes a reading at the time `seconds`.
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

/// The load of the audio thread: callback time divided by the period, averaged over one second.
struct LoadAverage {
  private var cycles = 0
  private var busyNanoseconds: UInt64 = 0
  private var seconds = 0.0
  /// The callback time divided by the period; nil in the first second.
  private(set) var value: Double?

  /// Processes a snapshot at `seconds` of a unit with a period of `periodSeconds`.
  mutating func follow(_ snapshot: SessionSnapshot, seconds: Double, periodSeconds: Double) {
    guard seconds >= self.seconds + 1, snapshot.cycles > cycles, periodSeconds > 0 else { return }
    let busy = Double(snapshot.busyNanoseconds &- busyNanoseconds) * 1e-9
    value = busy / Double(snapshot.cycles - cycles) / periodSeconds
    (cycles, busyNanoseconds, self.seconds) = (snapshot.cycles, snapshot.busyNanoseconds, seconds)
  }
}

/// The task of a session that is neither a plain recording nor the playback of files.
struct LiveTask {
  /// The title: "Overdubbing song.wav to take.wav".
  var title: String
  /// The length in frames; nil if it is unknown.
  var frames: Int?
  /// The frame at which the task begins after a count-in; the clock counts from it.
  var firstFrame = 0
  /// The function that returns the current part with the remaining time, and the completed
  /// fraction; it returns nil if the progress follows from the time alone.
  var progress: () -> (text: String, fraction: Double)? = { nil }

  init(_ title: String, firstFrame: Int = 0, frames: Int? = nil) {
    self.title = title
    self.firstFrame = firstFrame
    self.frames = frames
  }
}
