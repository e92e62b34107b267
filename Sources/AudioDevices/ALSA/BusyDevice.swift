/// Finds out who has a device open.
public enum BusyDevice {
  /// The program that holds the device an ALSA name stands for, in either direction; where the name
  /// names no card, the first program that holds any. Nil where that cannot be known.
  public static func holder(of device: String) -> BusyHolder? {
    holder(of: device, nil)
  }

  static func holder(of device: String, _ direction: PCMDirection?) -> BusyHolder? {
    for path in ProcFile.paths(matching: statusPattern(of: device, direction)) {
      guard let status = ProcFile.text(path), let thread = ownerThread(in: status) else { continue }
      return holder(thread: thread)
    }
    return nil
  }

  /// The thread that opened a substream, by the text of its `status` file.
  static func ownerThread(in status: String) -> Int? {
    ProcFile.value(of: "owner_pid", in: status).flatMap { Int($0) }
  }

  /// Where the kernel tells about the substreams of an ALSA name, as a shell pattern.
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

  /// The kernel names the thread; people know the program it belongs to.
  private static func holder(thread: Int) -> BusyHolder? {
    guard let status = ProcFile.text("/proc/\(thread)/status") else { return nil }
    let process = ProcFile.value(of: "Tgid", in: status).flatMap { Int($0) } ?? thread
    guard let name = ProcFile.text("/proc/\(process)/comm") else { return nil }
    return BusyHolder(name: String(name.prefix { !$0.isNewline }), process: process)
  }
}
