import ArgumentParser
import AudioBasics

/// A change of level in dB, as a plain number: `-6`.
struct DecibelOption: ExpressibleByArgument {
  let decibels: Double

  /// The factor it comes to.
  var gain: Float { Decibels.gain(decibels) }

  init(_ decibels: Double) {
    self.decibels = decibels
  }

  init?(argument: String) {
    guard let decibels = WrittenNumber.decimal(argument), (-200...60).contains(decibels) else {
      return nil
    }
    self.decibels = decibels
  }

  var defaultValueDescription: String { "\(Int(clamping: decibels))" }
}
