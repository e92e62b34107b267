import AudioFiles
import AudioSessions
import Synchronization

/// Opens what the user named.
enum SourceOpening {
  /// The decoder of a path or an address. Waits for a network until `opening` is called off.
  static func decoder(
    _ location: String, _ opening: Opening
  ) throws(FileFailure) -> any SoundDecoder {
    SourceAddress.isRemote(location)
      ? try opening.decoder(ofAddress: location) : try Decoding.decoder(forPath: location)
  }
}

/// A decoder opened before its turn, to be played the first time; later times open it anew.
final class OpenedSource: @unchecked Sendable {
  // @unchecked because the decoder is taken out once, behind the lock.
  private let location: String
  private let decoder: Mutex<Given?>

  private struct Given: @unchecked Sendable {
    // @unchecked because whoever takes it leaves nothing behind.
    let decoder: any SoundDecoder
  }

  init(_ location: String, _ decoder: any SoundDecoder) {
    self.location = location
    self.decoder = Mutex(Given(decoder: decoder))
  }

  func take(_ opening: Opening) throws(FileFailure) -> any SoundDecoder {
    if let given = decoder.withLock({ $0.take() }) { return given.decoder }
    return try SourceOpening.decoder(location, opening)
  }
}
