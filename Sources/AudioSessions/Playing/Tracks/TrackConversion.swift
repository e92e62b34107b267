import AudioBasics
import AudioClocks
import AudioFiles

/// The conversion from a file's rate, at a speed, to the unit's rate: at a fixed ratio for normal
/// speed, with bit-exact joins, and at any ratio for other speeds.
struct TrackConversion: ~Copyable {
  let inputRate: Int
  let outputRate: Int
  let speed: Double
  private var converter: Converter

  /// Makes a conversion that begins with the first frame, or, at other speeds, at the position
  /// `position` in frames. Returns nil if no conversion is needed. Throws `.unusableContents` if
  /// the rates, or the number of frames read per frame played, are out of bounds.
  static func make(
    channelCount: Int, inputRate: Int, outputRate: Int, speed: Double, position: Double,
    quality: Int, name: String
  ) throws(FileFailure) -> TrackConversion? {
    guard inputRate != outputRate || speed != 1 else { return nil }
    try check(inputRate, outputRate, speed, name)
    if speed != 1 {
      let ratio = Double(inputRate) / Double(outputRate) * speed
      var varying = VariableRateConverter(
        channelCount: channelCount, maximumInputPerOutput: max(1, ratio))
      varying.setRatio(ratio)
      varying.reset(position: position)
      return TrackConversion(
        inputRate: inputRate, outputRate: outputRate, speed: speed, converter: .varying(varying))
    }
    do throws(RateFailure) {
      let fixed = try BlockRateConverter(
        channelCount: channelCount, inputRate: inputRate, outputRate: outputRate, quality: quality)
      return TrackConversion(
        inputRate: inputRate, outputRate: outputRate, speed: speed, converter: .fixed(fixed))
    } catch {
      throw FileFailure(
        .unusableContents, "\(name) cannot be converted to \(outputRate) Hz: \(error.message)",
        hint: error.hint)
    }
  }

  /// Throws `.unusableContents` if the file `name` cannot be played at `outputRate` Hz and `speed`.
  private static func check(
    _ inputRate: Int, _ outputRate: Int, _ speed: Double, _ name: String
  ) throws(FileFailure) {
    let rates = RateConverter.supportedRates
    guard rates.contains(inputRate) else {
      throw FileFailure(
        .unusableContents, "\(name) has a rate of \(inputRate) Hz, which cannot be converted.",
        hint: "Convert it with sox first.")
    }
    guard rates.contains(outputRate) else {
      throw FileFailure(
        .unusableContents, "\(name) cannot be played at \(outputRate) Hz.",
        hint: "Play it at \(rates.boundsText) Hz.")
    }
    guard speed != 1 else { return }
    let ratio = Double(inputRate) / Double(outputRate) * speed
    guard TrackSettings.speeds.contains(speed),
      ratio <= VariableRateConverter.supportedMaxima.upperBound
    else {
      throw FileFailure(
        .unusableContents,
        "\(name), at \(inputRate) Hz, cannot be played \(speed) times as fast at \(outputRate) Hz.",
        hint: TrackSettings.speeds.contains(speed)
          ? "Ask for a higher rate or a lower speed."
          : "Ask for a speed of \(TrackSettings.speeds.boundsText).",
        remedy: .slowDown)
    }
  }

  /// The number of frames of the file per frame of the unit.
  var ratio: Double { Double(inputRate) / Double(outputRate) * speed }

  /// Whether frames beyond a join may be predicted: at normal speed.
  var canExtrapolate: Bool { speed == 1 }

  /// Converts as `BlockRateConverter.convert` does.
  mutating func convert(
    _ input: borrowing SampleBuffer, from firstFrame: Int, frames: Int,
    into output: inout SampleBuffer, at target: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    converter.convert(
      input, from: firstFrame, frames: frames, into: &output, at: target, room: room)
  }

  /// Converts frames, and discards the output until none of it is surplus. Returns the number of
  /// frames consumed.
  mutating func discard(
    _ surplusFrames: inout Int, of sound: borrowing SampleBuffer, from first: Int, frames: Int
  ) -> Int {
    var scratch = SampleBuffer(frameCount: 1024, channelCount: sound.channelCount)
    var taken = 0
    while surplusFrames > 0, taken < frames {
      let step = convert(
        sound, from: first + taken, frames: frames - taken, into: &scratch, at: 0,
        room: min(surplusFrames, scratch.frameCount))
      guard step.consumed > 0 || step.produced > 0 else { break }
      taken += step.consumed
      surplusFrames -= step.produced
    }
    return taken
  }
}

/// The converter of a track.
private enum Converter: ~Copyable {
  case fixed(BlockRateConverter)
  case varying(VariableRateConverter)

  mutating func convert(
    _ input: borrowing SampleBuffer, from firstFrame: Int, frames: Int,
    into output: inout SampleBuffer, at target: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    // What cannot be copied is changed outside of its enum.
    switch consume self {
    case .fixed(var converter):
      let progress = converter.convert(
        input, from: firstFrame, frames: frames, into: &output, at: target, room: room)
      self = .fixed(converter)
      return progress
    case .varying(var converter):
      let progress = converter.convert(
        input, from: firstFrame, frames: frames, into: &output, at: target, room: room)
      self = .varying(converter)
      return progress
    }
  }
}
