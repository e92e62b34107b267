import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio

/// A source as the user names it: a path or an address, and perhaps a stretch of it as media
/// fragments write it, `song.flac#t=10,20` (W3C, Media Fragments URI 1.0).
struct SourceAddress {
  let location: String
  private(set) var start: TimeOption?
  private(set) var end: TimeOption?
  /// Where it was opened to see what it is.
  var opened: OpenedSource?
  /// Whether the user did not name it, but a playlist or a folder that it is in.
  var isFound = false
  /// Whether it is played together with others, which would wait for it.
  var isMixed = false
  /// What is wrong with it, where it is a playlist or a folder in a playlist.
  var refusal: FileFailure?
  /// What it is, where it is bare samples.
  var raw: RawOption?

  init(_ name: String) {
    guard let mark = name.lastIndex(of: "#"), name[mark...].hasPrefix("#t="),
      // A file may be called so.
      !SoundFileReader.exists(name)
    else {
      location = name
      return
    }
    var times = name[name.index(mark, offsetBy: 3)...]
    if times.hasPrefix("npt:") { times = times.dropFirst(4) }
    let parts = times.split(separator: ",", omittingEmptySubsequences: false)
    let start = parts.first.flatMap { TimeOption(argument: String($0)) }
    let end = parts.count == 2 ? TimeOption(argument: String(parts[1])) : nil
    guard (1...2).contains(parts.count), start != nil || parts.first == "",
      parts.count == 1 || end != nil
    else {
      location = name
      return
    }
    location = String(name[..<mark])
    self.start = start
    self.end = end
  }

  /// What it is called in messages: without the user's name and password.
  var name: String { FileName.withoutUser(location) }

  /// Whether it is standard input, or a pipe or a device that the user named: it can be read only
  /// once, and may have to be waited for.
  var isPipe: Bool {
    location == "-" || (!isFound && !isRemote && !isMixed && SoundFileReader.isPipe(location))
  }

  /// Whether it lies behind a network.
  var isRemote: Bool { Self.isRemote(location) }

  /// Whether its opening may have to wait for another program.
  var takesTime: Bool { isPipe || (isRemote && !RemoteFile.failsAtOnce(location)) }

  static func isRemote(_ name: String) -> Bool {
    let start = name.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }
}

/// Opens what the user named.
enum SourceOpening {
  /// The decoder of a path or an address. Waits for a network or a pipe until `opening` is
  /// cancelled.
  static func decoder(
    of address: SourceAddress, _ opening: CancellableOpening
  ) throws(FileFailure) -> any SoundDecoder {
    if let refusal = address.refusal { throw refusal }
    // Lists on this machine name a path by now.
    guard !address.isFound || FileAddress.path(of: address.location) == nil else {
      throw FileFailure(
        .cannotOpen,
        "\(address.name) is a file on this machine, which a playlist from the web may not name.",
        hint: "Save the playlist here, and play that.")
    }
    if address.isRemote { return try opening.decoder(ofAddress: address.location) }
    if let raw = address.raw { return try raw.decoder(of: address.location, opening) }
    guard address.isPipe else { return try Decoding.decoder(forPath: address.location) }
    return try Decoding.decoder(forPath: address.location) { opening.onCancel($0) }
  }

  /// What `address` names, opened while the user watches. Throws what is wrong with it.
  static func opened(_ address: SourceAddress) throws(FileFailure) -> OpenedSource {
    if let opened = address.opened { return opened }
    guard address.refusal == nil, address.isRemote || address.isPipe else {
      return OpenedSource(address, try decoder(of: address, CancellableOpening()))
    }
    return try InterruptibleOpening.result(
      of: address.name, isNear: address.isPipe, orThrowing: FileFailure.noThread
    ) { opening throws(FileFailure) in
      OpenedSource(address, try decoder(of: address, opening))
    }
  }
}

extension FileFailure {
  /// There is no thread to open anything on.
  static func noThread(_ message: String) -> FileFailure {
    FileFailure(.cannotOpen, message, hint: "End other programs, then try again.")
  }
}

/// A decoder opened before its turn, to be played the first time; later times open it anew.
final class OpenedSource: @unchecked Sendable {
  // @unchecked because the decoder is taken out once, behind the lock.
  private let address: SourceAddress
  /// Frames a second.
  let sampleRate: Int
  /// Frames in all; nil where that is not known, or only estimated.
  let frameCount: Int?
  private let decoder: MutexBox<Given?>

  private struct Given: @unchecked Sendable {
    // @unchecked because the taker leaves nothing behind.
    let decoder: any SoundDecoder
  }

  init(_ address: SourceAddress, _ decoder: any SoundDecoder) {
    self.address = address
    sampleRate = decoder.sampleRate
    frameCount = decoder.isLengthEstimated ? nil : decoder.frameCount
    self.decoder = MutexBox(Given(decoder: decoder))
  }

  /// Whether the decoder was not taken yet.
  var isThere: Bool { decoder.withLock { $0 != nil } }

  func take(_ opening: CancellableOpening) throws(FileFailure) -> any SoundDecoder {
    if let given = decoder.withLock({ $0.take() }) {
      // Going to where it begins may have to wait for a network.
      opening.onCancel { given.decoder.interrupt() }
      return given.decoder
    }
    return try SourceOpening.decoder(of: address, opening)
  }
}
