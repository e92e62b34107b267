import ArgumentParser
import AudioBasics
import AudioDevices

/// A volume of a card's mixer: `80%` of its range, or `-6`, in dB.
struct VolumeOption: ExpressibleByArgument {
  let volume: MixerVolume

  init?(argument: String) {
    if argument.hasSuffix("%") {
      guard let percent = WrittenNumber.decimal(argument.dropLast()), (0...100).contains(percent)
      else { return nil }
      volume = .percent(percent)
    } else {
      guard let decibels = WrittenNumber.decimal(argument), (-200...60).contains(decibels) else {
        return nil
      }
      volume = .decibels(decibels)
    }
  }
}
