import CCurl
import Glibc

/// An address that begins with `http:` or `https:`.
struct WebAddress: Equatable, Sendable {
  /// All of it.
  let text: String
  /// Without the user's name and password: for messages.
  let name: String
  let path: String
  let isEncrypted: Bool

  /// The address in `text`. libcurl is loaded. Throws `.cannotOpen`.
  init(_ text: String) throws(FileFailure) {
    let text = Self.escaped(text)
    guard let scheme = Self.text(ccurl_address_scheme(text)),
      let name = Self.text(ccurl_address_without_user(text))
    else {
      throw FileFailure(
        .cannotOpen, "\(text) is not an address.",
        hint: "Write it as a browser shows it: http://example.org/song.flac")
    }
    guard scheme == "http" || scheme == "https" else {
      throw FileFailure(
        .cannotOpen, "\(name) cannot be fetched: only http and https can.",
        hint: "Give an address that begins with http:// or https://.")
    }
    self.text = text
    self.name = name
    path = Self.text(ccurl_address_path(text)) ?? "/"
    isEncrypted = scheme == "https"
  }

  /// Where a redirect of this address to `reference` leads. Throws `.cannotOpen`.
  func redirected(to reference: String) throws(FileFailure) -> WebAddress {
    guard let joined = joined(to: reference) else {
      throw FileFailure(
        .cannotOpen, "\(name) redirects to what is not an address: \(reference).",
        hint: "Open the address in a browser, and give the one of the file itself.")
    }
    let target: WebAddress
    do throws(FileFailure) {
      target = try WebAddress(joined)
    } catch {
      throw FileFailure(
        .cannotOpen, "\(name) redirects to \(joined), which is not on the web.",
        hint: "Open the address in a browser, and give the one of the file itself.")
    }
    guard target.isEncrypted || !isEncrypted else {
      throw FileFailure(
        .cannotOpen, "\(name) redirects from https to http, which anybody could listen to.",
        hint: "Give \(target.name) itself if you trust the network.")
    }
    return target
  }

  /// What `reference` names from here on; nil where that is no address.
  func joined(to reference: String) -> String? {
    Self.text(ccurl_address_join(text, Self.escaped(reference)))
  }

  /// Whether its path ends as the names of sound files do.
  var looksLikeSound: Bool {
    let ending = FileName.ending(of: path)
    return PathExtension.isSound(ending) || PathExtension.playlists.contains(ending)
  }

  /// Spaces and letters beyond ASCII as they travel: people paste them.
  private static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte > 0x20 && byte < 0x7F {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text of a C string that is ours.
  private static func text(_ memory: UnsafeMutablePointer<CChar>?) -> String? {
    guard let memory else { return nil }
    defer { free(memory) }
    return String(cString: memory)
  }
}
