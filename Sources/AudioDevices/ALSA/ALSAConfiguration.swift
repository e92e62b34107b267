import CALSA

/// The configuration that alsa-lib reads before it opens anything: its own, `/etc/asound.conf`,
/// `~/.asoundrc`. Any thread but the audio thread.
package enum ALSAConfiguration {
  /// Why it cannot be read, with the file and the line, so that no device can be opened; nil where
  /// it can.
  package static var failure: DeviceFailure? {
    ALSALibrary.prepare()
    var text = [CChar](repeating: 0, count: 2048)
    let code = duplex_read_configuration(&text, text.count)
    guard code < 0 else { return nil }
    let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    let reason = reason(in: String(decoding: bytes, as: UTF8.self)) ?? PCMFailure.words(code)
    return DeviceFailure(
      .refused, "ALSA cannot read its configuration: \(reason).",
      hint: "Correct the file, or move it away.")
  }

  /// What alsa-lib says about a file in several messages, a line each, in one:
  /// `/etc/asound.conf, line 2: Unexpected char`. It calls the file that it was asked for
  /// `_toplevel_`, and names it in a later message. Nil where it says nothing.
  static func reason(in text: String) -> String? {
    let lines = text.split(separator: "\n").map(String.init)
    guard let first = lines.first else { return nil }
    for line in lines {
      // The name, the line, the column and the reason.
      let parts = line.split(separator: ":", maxSplits: 3).map(String.init)
      guard parts.count == 4, let number = Int(parts[1]), Int(parts[2]) != nil else { continue }
      let file = lines.lazy.compactMap { line in
        line.firstRange(of: " may be old or corrupted").map { String(line[..<$0.lowerBound]) }
      }.first
      let name = parts[0] == "_toplevel_" ? file ?? "a file" : parts[0]
      return "\(name), line \(number): \(line == first ? parts[3] : first)"
    }
    return first
  }
}
