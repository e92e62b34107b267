import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio

/// A source as the user names it: a path or an address, optionally with a range in the notation of
/// media fragments, `song.flac#t=10,20` (W3C, Media Fragments URI 1.0).
struct SourceAddress {
  let location: String
  private(set) var start: TimeOption?
  private(set) var end: TimeOption?
  /// The opened source, if it was opened to detect its contents.
  var opened: OpenedSource?
  /// Whether the source was found in a playlist or a folder, and not named by the user.
  var isFound = false
  /// Whether it is played at the same time as other sources, which would have to wait for it.
  var isMixed = false
  /// The failure that occurs instead of opening the source, such as that of a playlist within a
  /// playlist.
  var refusal: FileFailure?
  /// The format if the source consists of raw samples; nil otherwise.
  var raw: RawOption?

  init(_ name: String) {
    guard let mark = name.lastIndex(of: "#"), name[mark...].hasPrefix("#t="),
      // A file may have this name.
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

  /// The name for messages, without user name and password.
  var name: String { FileName.withoutUser(location) }

  /// Whether it is standard input, or a pipe or a device that the user named. Such a source can be
  /// read only once, and opening it may have to wait.
  var isPipe: Bool {
    location == "-" || (!isFound && !isRemote && !isMixed && SoundFileReader.isPipe(location))
  }

  /// Whether it is an HTTP or HTTPS address.
  var isRemote: Bool { Self.isRemote(location) }

  /// Whether opening it may have to wait for a pipe or a server.
  var takesTime: Bool { isPipe || (isRemote && !RemoteFile.failsAtOnce(location)) }

  static func isRemote(_ name: String) -> Bool {
    let start = name.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }
}

/// Opens the sources that the user named.
enum SourceOpening {
  /// Returns the decoder of a path or an address. Waits for a network or a pipe until `opening` is
  /// cancelled.
  static func decoder(
    of address: SourceAddress, _ opening: CancellableOpening
  ) throws(FileFailure) -> any SoundDecoder {
    if let refusal = address.refusal { throw refusal }
    // In entries of local playlists, file addresses have already been converted to paths.
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

  /// Opens `address` while the user can interrupt the wait. Throws the reason if it cannot be
  /// opened.
  static func opened(_ address: SourceAddress) throws(FileFailure) -> OpenedSource {
    if let opened = address.opened { return opened }
    guard address.refusal == nil, address.isRemote || address.isPipe else {
      return OpenedSource(address, try decoder(of: address, CancellableOpening()))
    }
    return try InterruptibleOpening.result(
      of: address.name == "-" ? "standard input" : address.name, isNear: address.isPipe,
      orThrowing: FileFailure.noThread
    ) { opening throws(FileFailure) in
      OpenedSource(address, try decoder(of: address, opening))
    }
  }
}

extension FileFailure {
  /// Returns the failure to start the thread that opens a source.
  static func noThread(_ message: String) -> FileFailure {
    FileFailure(.cannotOpen, message, hint: "End other programs, then try again.")
  }
}

/// A decoder that was opened ahead for the first playback. Further playbacks open the source again.
final class OpenedSource: @unchecked Sendable {
  // @unchecked because the decoder is taken out once, behind the lock.
  private let address: SourceAddress
  /// The sample rate in Hz.
  let sampleRate: Int
  /// The length in frames; nil if it is unknown or only estimated.
  let frameCount: Int?
  private let decoder: MutexBox<SharedDecoder?>

  private struct SharedDecoder: @unchecked Sendable {
    // @unchecked because the caller that takes the decoder removes it from the mutex.
    let decoder: any SoundDecoder
  }

  init(_ address: SourceAddress, _ decoder: any SoundDecoder) {
    self.address = address
    sampleRate = decoder.sampleRate
    frameCount = decoder.isLengthEstimated ? nil : decoder.frameCount
    self.decoder = MutexBox(SharedDecoder(decoder: decoder))
  }

  /// Whether the decoder has not been taken yet.
  var isThere: Bool { decoder.withLock { $0 != nil } }

  func take(_ opening: CancellableOpening) throws(FileFailure) -> any SoundDecoder {
    if let given = decoder.withLock({ $0.take() }) {
      // Seeking to the start of the range may wait for a network.
      opening.onCancel { given.decoder.interrupt() }
      return given.decoder
    }
    return try SourceOpening.decoder(of: address, opening)
  }
}
