import AudioDevices
import RealtimeAudio

/// `duplex devices --watch`: the list, then each device that comes or goes.
struct DeviceWatch: ~Copyable {
  private let json: Bool
  private let signals = SignalWatch()
  private let keyboard = Keyboard()

  /// How often the kernel's list of cards is looked at.
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
      // The device files of a new card, and their owners, come a little later than the card.
      guard !isEnded() else { break }
      cards = now
      let found = DeviceList.current()
      tell(from: list, to: found)
      list = found
    }
    if json { Terminal.emit(.devices(list)) }
  }

  /// Waits for a moment; whether a signal or `q` came meanwhile.
  private func isEnded() -> Bool {
    switch signals.wait(milliseconds: Self.intervalMilliseconds, watching: keyboard.awaited) {
    case .signal(.end): return true
    case .readable:
      if case .key(.character("q")) = keyboard.press() { return true }
      return false
    case .signal, .timeout: return false
    }
  }

  private func begin(_ list: DeviceList) {
    if json {
      for device in list.devices { emit(device, "present") }
    } else {
      for line in DeviceOverview(list).lines { Terminal.printLine("\(line)") }
    }
  }

  private func tell(from before: DeviceList, to after: DeviceList) {
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
      Terminal.emit(
        Event(
          "listedDevice",
          [
            ("state", .string(state)), ("name", .string(device.name)),
            ("title", .string(device.fullTitle)), ("capture", .bool(device.canCapture)),
            ("playback", .bool(device.canPlay)),
          ]))
    } else {
      Terminal.printLine("\(state): \(device.name)  \(device.fullTitle)")
    }
  }
}
