import CALSA
import Glibc

/// The configuration that alsa-lib reads before it opens a device: its own files,
/// `/etc/asound.conf` and `~/.asoundrc`. Any thread but the audio thread.
package enum ALSAConfiguration {
  /// The reason why the configuration cannot be read, with the file and the line, so that no device
  /// can be opened; nil if it can be read.
  package static var failure: DeviceFailure? {
    ALSALibrary.prepare()
    if let path = getenv("ALSA_CONFIG_PATH").map({ String(cString: $0) }), isMissing(path) {
      return DeviceFailure(
        .refused, "ALSA_CONFIG_PATH names no file that exists (\(path)), so ALSA knows no device.",
        hint: "Correct this variable of the environment, or unset it.")
    }
    var text = [CChar](repeating: 0, count: 2048)
    let code = duplex_read_configuration(&text, text.count)
    guard code < 0 else { return nil }
    let reason = reason(in: Self.text(text)) ?? PCMFailure.words(code)
    return DeviceFailure(
      .refused, "ALSA cannot read its configuration: \(reason).",
      hint: "Correct the file, or move it away.")
  }

  /// The plugin of the sound server that the default device uses, such as `pulse`; nil if it uses
  /// none, or if the environment gives the server's address, so that it may run elsewhere.
  package static var defaultServer: String? {
    ALSALibrary.prepare()
    let addresses = ["pulse": "PULSE_SERVER", "pipewire": "PIPEWIRE_REMOTE"]
    return DeviceNames.types(of: "default").first { plugin in
      (plugin == "jack" || addresses[plugin] != nil)
        && addresses[plugin].flatMap { getenv($0) } == nil
    }
  }

  /// Returns whether none of the files in `path`, the value of `ALSA_CONFIG_PATH`, exists. If the
  /// variable is empty, alsa-lib reads its own files.
  private static func isMissing(_ path: String) -> Bool {
    let files = path.split { $0 == ":" || $0 == " " }
    return !files.isEmpty
      && files.allSatisfy { !$0.hasPrefix("~") && access(String($0), F_OK) != 0 }
  }

  /// Returns the text in memory that was filled by a C function.
  private static func text(_ memory: [CChar]) -> String {
    String(decoding: memory.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Returns the messages of alsa-lib in memory that was filled by a C function.
  static func messages(_ memory: [CChar]) -> [String] {
    text(memory).split(separator: "\n").map(String.init)
  }

  /// Returns alsa-lib's messages about a file, one per line in `text`, as a single message:
  /// `/etc/asound.conf, line 2: Unexpected char`. alsa-lib calls the requested file `_toplevel_`,
  /// and names it in a later message. Returns nil if there is no message.
  static func reason(in text: String) -> String? {
    let lines = text.split(separator: "\n").map(String.init)
    guard let first = lines.first else { return nil }
    for line in lines {
      // The file name, the line, the column and the reason.
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
