import Glibc

/// How long a room goes on sounding, learned from the voice in it.
///
/// A voice in a room can fall no faster than the room. Of all stretches in which a band's level
/// falls along a straight line, in decibels, the fastest fifth shows the room's own decay: an order
/// statistic, as in Löllmann, Yilmaz, Jeub, Vary, "An Improved Algorithm for Blind Reverberation
/// Time Estimation" (IWAENC 2010). Without a room it shows the voice's own, which is short enough
/// to leave speech alone.
struct RoomDecay {
  /// The reverberation time (60 dB) in seconds; at first that of a furnished room.
  private(set) var seconds = 0.3

  /// Octaves in which voices and rooms sound: their edges, in hertz.
  private static let edges: [Double] = [250, 500, 1000, 2000, 4000]
  /// How long a stretch is, in seconds: longer than most sounds of speech.
  private static let stretchSeconds = 0.2
  /// What is called straight: levels this near to the line, in decibels (RMS).
  private static let straightness: Float = 2
  /// What is called falling: a decay that takes less than two seconds.
  private static let leastFall: Float = -30
  /// What rooms are taken to be between; in larger ones, a microphone is no longer near.
  private static let bounds = 0.1...1.2
  /// The part of decays that are faster than the room's.
  private static let fasterPart = 0.2
  /// What one decay can change, as the natural logarithm of a ratio.
  private static let step = 0.05

  private let bands: [Range<Int>]
  /// Seconds from a stretch's middle, one a block, and the sum of their squares.
  private let times: [Float]
  private let timesSquared: Float
  /// The last stretch of each band, in decibels.
  private var levels: [[Float]]

  init(blockSeconds: Double, binHertz: Double, binCount: Int) {
    bands = zip(Self.edges, Self.edges.dropFirst()).map { lower, upper in
      let end = min(binCount, Int(clamping: (upper / binHertz).rounded(.up)))
      return min(end, Int(clamping: (lower / binHertz).rounded(.up)))..<end
    }
    let count = max(4, Int(rounding: Self.stretchSeconds / blockSeconds))
    times = (0..<count).map { Float((Double($0) - Double(count - 1) / 2) * blockSeconds) }
    timesSquared = times.reduce(0) { $0 + $1 * $1 }
    let silence = [Float](repeating: -120, count: count)
    levels = Array(repeating: silence, count: bands.count)
  }

  /// Takes in the power of a block's bins: none is zero.
  mutating func watch(_ power: [Float]) {
    for (band, bins) in bands.enumerated() {
      var sum: Float = 0
      for bin in bins { sum += power[bin] }
      levels[band].removeFirst()
      levels[band].append(10 * log10(sum))
      if let fall = fall(levels[band]) { learn(-60 / Double(fall)) }
    }
  }

  /// The slope, in decibels a second, of levels that fall along a straight line.
  private func fall(_ levels: [Float]) -> Float? {
    var mean: Float = 0
    var slope: Float = 0
    for index in 0..<times.count {
      mean += levels[index]
      slope += levels[index] * times[index]
    }
    mean /= Float(times.count)
    slope /= timesSquared
    guard slope < Self.leastFall else { return nil }
    var error: Float = 0
    for index in 0..<times.count {
      let distance = levels[index] - mean - slope * times[index]
      error += distance * distance
    }
    return error < Self.straightness * Self.straightness * Float(times.count) ? slope : nil
  }

  /// Steps towards a decay, so far that steps up and down cancel out where `fasterPart` of all
  /// decays are faster.
  private mutating func learn(_ decay: Double) {
    let direction = decay > seconds ? Self.fasterPart : Self.fasterPart - 1
    seconds = max(
      Self.bounds.lowerBound, min(Self.bounds.upperBound, seconds * exp(Self.step * direction)))
  }
}
