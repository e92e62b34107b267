import AudioBasics
import AudioFiles

/// What a recording holds besides a sine, a quarter of a second at a time.
///
/// Whoever recorded has a clock of his own, and what the sound went through may follow other clocks:
/// the pitch moves. That is no impurity as long as it is slow: a course with six bends in a quarter
/// of a second, some 24 Hz, counts as the sine's. All further from it, and all that moves its level,
/// is what the sine is compared with.
struct RecordedSines {
  /// A sine for each channel.
  private(set) var channels: [RecordedSine]

  private static let degree = 12

  /// Reads the sound file `path`.
  init(path: String) throws(FileFailure) {
    var reader = try SoundFileReader(path: path)
    let frames = reader.sampleRate / 4
    var window = SampleBuffer(frameCount: frames, channelCount: reader.channelCount)
    var channels = Array(
      repeating: RecordedSine(sampleRate: reader.sampleRate), count: reader.channelCount)
    while true {
      var filled = 0
      while filled < frames {
        let count = try reader.read(into: &window, at: filled)
        guard count > 0 else { break }
        filled += count
      }
      guard filled == frames else { break }
      for channel in channels.indices {
        let samples = (0..<frames).map { window[$0 * channels.count + channel] }
        channels[channel].take(WanderingSine(samples, degree: Self.degree))
      }
    }
    self.channels = channels
  }
}

/// What is known of one channel's sine.
struct RecordedSine {
  /// How often frames were missing, doubled or silent. What such a window leaves over is no
  /// converter's impurity: it is left out.
  private(set) var breaks = 0

  private let sampleRate: Int
  private var found: [WanderingSine] = []
  private var isBroken = false

  /// Less than that below the sine, in decibels, is what a jump leaves over.
  private static let brokenRest = 45.0

  init(sampleRate: Int) {
    self.sampleRate = sampleRate
  }

  /// Counts one more window; nil is one without a sine.
  mutating func take(_ sine: WanderingSine?) {
    guard let sine, sine.fit.rest > Self.brokenRest else {
      if !isBroken { breaks += 1 }
      isBroken = true
      return
    }
    isBroken = false
    found.append(sine)
  }

  /// Its frequency in the middle of the recording.
  var hertz: Double? {
    middle.map { $0.radians * Double(sampleRate) / (2 * .pi) }
  }

  /// Its peak there, in decibels of full scale.
  var level: Double? {
    middle.map { Decibels.level(Float($0.fit.amplitude)) }
  }

  private var middle: WanderingSine? {
    found.isEmpty ? nil : found[found.count / 2]
  }

  /// How far below the sine all else lies, in decibels, in that share of the windows.
  func rest(atLeast share: Double) -> Double {
    let rests = found.map(\.fit.rest).sorted(by: >)
    return rests[min(rests.count - 1, Int(clamping: share * Double(rests.count)))]
  }
}
