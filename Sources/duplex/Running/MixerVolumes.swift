import AudioDevices
import SimulatedDevices

/// The volumes that the options set in the mixers of the cards while a unit runs.
struct MixerVolumes {
  private var changes: [VolumeChange] = []

  /// Sets the volumes. Signals must be held before, so that the volumes are restored however the
  /// run ends.
  init(_ options: AudioOptions, _ request: DuplexRequest) throws(DeviceFailure) {
    do throws(DeviceFailure) {
      try set(options.captureVolume, request.captureDevice, isCapture: true)
      try set(options.playbackVolume, request.playbackDevice, isCapture: false)
    } catch {
      restore()
      throw error
    }
  }

  private mutating func set(
    _ option: VolumeOption?, _ device: String?, isCapture: Bool
  ) throws(DeviceFailure) {
    guard let option else { return }
    let name = isCapture ? "--capture-volume" : "--playback-volume"
    guard let device else {
      // Only `play` has no input, and `IgnoredOptions` has warned about the option.
      guard !isCapture else { return }
      throw DeviceFailure(
        .invalidRequest, "There is no output in this run, so \(name) has no effect.",
        hint: "Leave the option out.")
    }
    guard !SimulatedDeviceSpecification.isSimulated(device) else {
      throw DeviceFailure(
        .invalidRequest, "A simulated device has no mixer, so \(name) has no effect.",
        hint: "Use --gain, or sim:gain=-6.")
    }
    let change = try VolumeChange(of: device, isCapture: isCapture, to: option.volume)
    changes.append(change)
    guard change.isTaken else {
      return warn(
        "volume",
        "The mixer did not take the volume: \(change.control.name) on \(device) is at \(change.control.level).",
        hint: "Set it with alsamixer, or with the sound server's own mixer.")
    }
    inform(
      "volume",
      "the volume of \(change.control.name) on \(device) is \(change.control.level) during this run."
    )
  }

  /// Restores the previous volumes.
  func restore() {
    for change in changes { change.restore() }
  }
}

extension MixerControl {
  /// The volume as text: `80 % (-6 dB)`; empty if the control has none.
  var level: String {
    guard let volume else { return "" }
    return (volume * 100).shown(0) + " %" + (decibels.map { " (\($0.shown(1)) dB)" } ?? "")
  }
}
