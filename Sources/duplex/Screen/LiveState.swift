import AudioLevels
import AudioSessions

/// What a person watches while sound comes in.
struct LiveState {
  /// What runs: "Recording note.wav".
  var title = ""
  /// On which device, at what rate.
  var device = ""
  /// How long the take is.
  var seconds = 0.0
  /// How long it is to be; nil where the user ends it.
  var duration: Double?
  /// Whether the take has not begun.
  var isWaiting = false
  /// Whether the user paused.
  var isPaused = false
  /// Each channel's peak since the last reading, in dBFS.
  var peaks: [Double]
  /// Each channel's root mean square, in dBFS.
  var means: [Double]
  /// Each channel's highest peak of the last seconds, in dBFS.
  var holds: [Double]
  /// Loudness and clipping, where something is recorded.
  var levels: ProgrammeLevels?
  /// Seconds until the disk is full; nil where that is not known.
  var diskSeconds: Double?
  var xruns = 0
  var lostFrames = 0
  /// The keys that mean something now, each with its word.
  var keys: [String] = []

  /// The levels of `reading`; the rest follows.
  init(_ reading: MeterReading) {
    peaks = reading.peakDBFS
    means = reading.rmsDBFS
    holds = reading.peakDBFS
  }

  /// Samples that were clipped, in all channels.
  var clippedSamples: Int { levels?.clippedSamples.reduce(0, +) ?? 0 }
}

/// The highest peak of each channel, held for two seconds.
struct PeakHolds {
  private var peaks: [(level: Double, seconds: Double)] = []

  /// Takes in new peaks; answers with what is held.
  mutating func follow(_ levels: [Double], seconds: Double) -> [Double] {
    if peaks.count != levels.count { peaks = levels.map { ($0, seconds) } }
    for (channel, level) in levels.enumerated()
    where level >= peaks[channel].level || seconds > peaks[channel].seconds + 2 {
      peaks[channel] = (level, seconds)
    }
    return peaks.map(\.level)
  }
}

/// What a person watches while files play.
struct PlaybackState {
  /// What is played: "Playing song.flac".
  var title: String
  /// On which device, at what rate.
  var device = ""
  /// Where it is, of how much, and what is not as usual.
  var place: String
  /// The part of the source that lies before that place; nil where its length is not known.
  var fraction: Double?
  var xruns = 0
  /// The keys, each with its word.
  var keys: [String]
}
