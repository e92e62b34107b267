import AudioBasics
import AudioClocks
import AudioFiles

/// From a file's rate, at a speed, to the unit's: at a fixed ratio for the ordinary speed, which joins
/// to the bit, and at any ratio for others.
struct TrackConversion: ~Copyable {
  let inputRate: Int
  let outputRate: Int
  let speed: Double
  private var fixed: RateConverter?
  private var varying: VariableRateConverter?

  /// A conversion that begins at once, or, at an extraordinary speed, at `position` frames of the
  /// first that come. nil where nothing is to be converted. Throws `.unusableContents` where the rates,
  /// or the frames read for each one played, are out of bounds.
  static func make(
    channelCount: Int, inputRate: Int, outputRate: Int, speed: Double, position: Double,
    quality: Int, name: String
  ) throws(FileFailure) -> TrackConversion? {
    guard inputRate != outputRate || speed != 1 else { return nil }
    guard RateConverter.supportedRates.contains(inputRate) else { throw refusal(name, inputRate) }
    if speed != 1 {
      let ratio = Double(inputRate) / Double(outputRate) * speed
      guard ratio <= VariableRateConverter.supportedMaxima.upperBound else {
        throw FileFailure(
          .unusableContents,
          "\(name), at \(inputRate) Hz, cannot be played \(speed) times as fast at \(outputRate) Hz.",
          hint: "Ask for a higher --rate or a lower --speed.")
      }
      var varying = VariableRateConverter(
        channelCount: channelCount, maximumInputPerOutput: max(1, ratio))
      varying.setRatio(ratio)
      varying.reset(position: position)
      return TrackConversion(inputRate, outputRate, speed, nil, varying)
    }
    do throws(RateFailure) {
      var fixed = try RateConverter(
        channelCount: channelCount, inputRate: inputRate, outputRate: outputRate, quality: quality)
      fixed.skipLeadingSilence()
      return TrackConversion(inputRate, outputRate, speed, fixed, nil)
    } catch {
      throw refusal(name, inputRate)
    }
  }

  private init(
    _ inputRate: Int, _ outputRate: Int, _ speed: Double, _ fixed: consuming RateConverter?,
    _ varying: consuming VariableRateConverter?
  ) {
    self.inputRate = inputRate
    self.outputRate = outputRate
    self.speed = speed
    self.fixed = fixed
    self.varying = varying
  }

  private static func refusal(_ name: String, _ rate: Int) -> FileFailure {
    FileFailure(
      .unusableContents, "\(name) has a rate of \(rate) Hz, which cannot be converted.",
      hint: "Convert it with sox first.")
  }

  /// Whether what follows at a join may be foretold: at the ordinary speed.
  var foretells: Bool { speed == 1 }

  /// As `RateConverter.convert`.
  mutating func convert(
    _ input: borrowing SampleBuffer, from firstFrame: Int, frames: Int,
    into output: inout SampleBuffer, at target: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    if let progress = fixed?.convert(
      input, from: firstFrame, frames: frames, into: &output, at: target, room: room)
    {
      return progress
    }
    return varying?.convert(
      input, from: firstFrame, frames: frames, into: &output, at: target, room: room) ?? (0, 0)
  }
}
