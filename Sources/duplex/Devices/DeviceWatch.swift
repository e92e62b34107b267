import AudioDevices
import ProgramRuntime

/// The command `duplex devices --watch`: prints the list, then each device that is added or
/// removed.
struct DeviceWatch: ~Copyable {
  private let json: Bool
  private let signals = SignalWatch()
  private let keyboard = Keyboard()

  /// The interval at which the kernel's list of cards is read.
  private static let intervalMilliseconds: Int32 = 250

  init(json: Bool) { self.json = json }

  /// Runs until the user ends it.
  func run() {
    var cards = CardList.text
    var list = DeviceList.current()
    begin(list)
    while !isEnded() {
      let now = CardList.text
      guard now != cards else { continue }
      // The device files of a new card, and their owners, are created a little after the card.
      guard !isEnded() else { break }
      cards = now
      let found = DeviceList.current()
      reportChanges(from: list, to: found)
      list = found
    }
    if json { Terminal.emit(.devices(list)) }
  }

  /// Waits for one interval. Returns true if a signal or a key ended the command.
  private func isEnded() -> Bool {
    switch signals.wait(milliseconds: Self.intervalMilliseconds, watching: keyboard.awaited) {
    case .signal(.end): return true
    case .readable:
      return keyboard.press().ends
    case .signal, .timeout: return false
    }
  }

  private func begin(_ list: DeviceList) {
    if json {
      for device in list.devices { emit(device, "present") }
    } else {
      Terminal.printLines(DeviceOverview(list).lines)
    }
  }

  private func reportChanges(from before: DeviceList, to after: DeviceList) {
    let (old, new) = (before.devices, after.devices)
    for device in old where !new.contains(where: { $0.name == device.name }) {
      emit(device, "removed")
    }
    for device in new where !old.contains(where: { $0.name == device.name }) {
      emit(device, "added")
    }
  }

  private func emit(_ device: DeviceCandidate, _ state: String) {
    if json {
      let fields: Fields = [
        "state": state, "name": device.name, "title": device.fullTitle,
        "capture": device.canCapture,
        "playback": device.canPlay,
      ]
      Terminal.emit(Event("listedDevice", fields))
    } else {
      Terminal.printLine("\(state): \(device.name)  \(device.fullTitle)")
    }
  }
}
