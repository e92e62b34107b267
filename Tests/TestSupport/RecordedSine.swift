import AudioBasics
import AudioFiles

/// The sine in a recording and all other content, measured in windows of 250 ms.
///
/// The recorder has its own clock, and other devices in the signal path may have others, so the
/// pitch varies. Slow variation does not count as impurity: a course with up to six bends in 250
/// ms, about 24 Hz, counts as part of the sine. Faster variation of the pitch and any variation of
/// the level count as impurity.
package struct RecordedSines {
  /// One sine for each channel.
  package private(set) var channels: [RecordedSine]

  private static let degree = 12

  /// Reads the sound file `path`.
  package init(path: String) throws(FileFailure) {
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

/// The measurements of one channel's sine.
package struct RecordedSine {
  /// The number of breaks, at which frames were missing, repeated or silent. The windows of a break
  /// are omitted, because their residue is not caused by a converter.
  package private(set) var breaks = 0

  private let sampleRate: Int
  private var found: [WanderingSine] = []
  private var isBroken = false

  /// The minimum level of an intact window's sine over its residue, in decibels; a jump reduces it
  /// further.
  private static let brokenRest = 45.0

  package init(sampleRate: Int) {
    self.sampleRate = sampleRate
  }

  /// Adds the result of one window; nil if the window holds no sine.
  package mutating func take(_ sine: WanderingSine?) {
    guard let sine, sine.fit.rest > Self.brokenRest else {
      if !isBroken { breaks += 1 }
      isBroken = true
      return
    }
    isBroken = false
    found.append(sine)
  }

  /// The frequency in the middle of the recording, in hertz.
  package var hertz: Double? {
    middle.map { $0.radians * Double(sampleRate) / (2 * .pi) }
  }

  /// The peak level in the middle of the recording, in dBFS.
  package var level: Double? {
    middle.map { Decibels.level(Float($0.fit.amplitude)) }
  }

  private var middle: WanderingSine? {
    found.isEmpty ? nil : found[found.count / 2]
  }

  /// Returns the level of the sine over the rest, in decibels, reached by `share` of the windows.
  package func rest(atLeast share: Double) -> Double {
    let rests = found.map(\.fit.rest).sorted(by: >)
    return rests[min(rests.count - 1, Int(clamping: share * Double(rests.count)))]
  }
}
