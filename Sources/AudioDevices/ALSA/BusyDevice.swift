import LinuxSystem

/// The search for the program that has a device open. Any thread but the audio thread.
package enum BusyDevice {
  /// Returns the program that holds the device of an ALSA name, in either direction. If the name
  /// names no card, returns the first program that holds any device. Returns nil if it is not
  /// known.
  package static func holder(of device: String) -> BusyHolder? {
    holder(of: device, nil)
  }

  static func holder(of device: String, _ direction: PCMDirection?) -> BusyHolder? {
    let files = SystemFiles.ofThisMachine
    return files.paths(matching: statusPattern(of: device, direction)).lazy
      .compactMap { RunningProgram.holding(substream: $0, files) }.first
      .map { BusyHolder(name: $0.name, process: $0.process) }
  }

  /// Returns a shell pattern for the kernel's status files of the substreams of an ALSA name.
  static func statusPattern(of device: String, _ direction: PCMDirection?) -> String {
    let address = HardwareAddress(device)
    let card = address.card.map { Int($0) == nil ? $0 : "card\($0)" } ?? "card*"
    let letter =
      switch direction {
      case .capture: "c"
      case .playback: "p"
      case nil: "[cp]"
      }
    return "/proc/asound/\(card)/pcm\(address.device ?? "*")\(letter)"
      + "/sub\(address.subdevice ?? "*")/status"
  }
}
