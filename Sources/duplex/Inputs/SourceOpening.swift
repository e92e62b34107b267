import AudioFiles
import AudioSessions
import RealtimeAudio

/// Opens what the user named.
enum SourceOpening {
  /// The decoder of a path or an address. Waits for a network or a pipe until `opening` is called off.
  static func decoder(
    of address: SourceAddress, _ opening: Opening
  ) throws(FileFailure) -> any SoundDecoder {
    if let refusal = address.refusal { throw refusal.failure }
    if address.isRemote { return try opening.decoder(ofAddress: address.location) }
    if let raw = address.raw { return try raw.decoder(of: address.location, opening) }
    guard address.isPipe else { return try Decoding.decoder(forPath: address.location) }
    return try Decoding.decoder(forPath: address.location) { opening.whenCalledOff($0) }
  }

  /// What `address` names, opened while somebody watches. Throws what is wrong with it.
  static func opened(_ address: SourceAddress) throws(FileFailure) -> OpenedSource {
    if let opened = address.opened { return opened }
    guard address.refusal == nil, address.isRemote || address.isPipe else {
      return OpenedSource(address, try decoder(of: address, Opening()))
    }
    return try AttendedOpening.result(of: address.name) { opening throws(FileFailure) in
      OpenedSource(address, try decoder(of: address, opening))
    }
  }
}

/// A decoder opened before its turn, to be played the first time; later times open it anew.
final class OpenedSource: @unchecked Sendable {
  // @unchecked because the decoder is taken out once, behind the lock.
  private let address: SourceAddress
  /// Frames a second.
  let sampleRate: Int
  /// Frames in all; nil where nobody knows.
  let frameCount: Int?
  private let decoder: Guarded<Given?>

  private struct Given: @unchecked Sendable {
    // @unchecked because whoever takes it leaves nothing behind.
    let decoder: any SoundDecoder
  }

  init(_ address: SourceAddress, _ decoder: any SoundDecoder) {
    self.address = address
    sampleRate = decoder.sampleRate
    frameCount = decoder.frameCount
    self.decoder = Guarded(Given(decoder: decoder))
  }

  func take(_ opening: Opening) throws(FileFailure) -> any SoundDecoder {
    if let given = decoder.withLock({ $0.take() }) {
      // Going to where it begins may have to wait for a network.
      opening.whenCalledOff { given.decoder.interrupt() }
      return given.decoder
    }
    return try SourceOpening.decoder(of: address, opening)
  }
}
