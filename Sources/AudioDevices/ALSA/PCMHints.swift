import CALSA
import Glibc

/// ALSA's list of the PCMs that its configuration defines and describes, kept until the value goes
/// out of scope.
struct PCMHints: ~Copyable {
  // The list ends with nil. It is nil itself if the configuration cannot be read.
  private let list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?

  init() {
    var found: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    list = snd_device_name_hint(-1, "pcm", &found) == 0 ? found : nil
  }

  deinit {
    guard let list else { return }
    snd_device_name_free_hint(list)
  }

  /// The PCMs, in the configuration's order.
  var named: [NamedPCM] {
    guard var entry = list else { return [] }
    var named: [NamedPCM] = []
    while let hint = entry.pointee {
      if let name = Self.text(hint, "NAME") {
        // A hint without IOID is for both directions.
        let direction = Self.text(hint, "IOID")
        named.append(
          NamedPCM(
            name: name, comment: Self.text(hint, "DESC") ?? "",
            canCapture: direction != "Output", canPlay: direction != "Input"))
      }
      entry += 1
    }
    return named
  }

  private static func text(_ hint: UnsafeRawPointer, _ key: String) -> String? {
    guard let text = snd_device_name_get_hint(hint, key) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
