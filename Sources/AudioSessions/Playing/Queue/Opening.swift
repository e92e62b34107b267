import AudioFiles
import RealtimeAudio

/// One opening of a source on its way: what waits for a network meanwhile can be called off.
public final class Opening: Sendable {
  private struct State {
    var isCalledOff = false
    var interruptions: [@Sendable () -> Void] = []
  }

  private let state = Guarded(State())

  /// An opening that goes on.
  public init() {}

  /// Whether it is called off. Any thread.
  public var isCalledOff: Bool { state.withLock { $0.isCalledOff } }

  /// Has `interrupt` called when it is called off, or at once if it is already.
  public func whenCalledOff(_ interrupt: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isCalledOff { state.interruptions.append(interrupt) }
      return state.isCalledOff
    }
    if isLate { interrupt() }
  }

  /// Ends the waiting. Any thread.
  public func callOff() {
    let interruptions = state.withLock { state in
      state.isCalledOff = true
      defer { state.interruptions = [] }
      return state.interruptions
    }
    for interrupt in interruptions { interrupt() }
  }
}

extension Opening {
  /// Seconds of sound that are fetched ahead of a reader: half of it outlasts a connection that stalls.
  private static let aheadSeconds = 30
  /// Bits a second of 32 channels at 192 kHz: what claims more is not fetched further ahead.
  private static let highestBitRate = 32 * 192_000 * 32

  /// Opens what is behind an http or https address, as far as its first frames. Throws as `RemoteFile`
  /// and `Decoding.decoder(for:)` do, and where it is called off.
  public func decoder(ofAddress address: String) throws(FileFailure) -> any SoundDecoder {
    try decoder(of: try file(ofAddress: address))
  }

  /// The bytes behind an http or https address. Throws as `RemoteFile` does, and where it is called
  /// off.
  public func file(ofAddress address: String) throws(FileFailure) -> RemoteFile {
    var bounds = RemoteFileBounds()
    // Nobody knows yet where it is to be read.
    bounds.readAhead = bounds.firstRequest
    let file = try RemoteFile(address: address, bounds: bounds, whileWaiting: whenCalledOff)
    whenCalledOff { [weak file] in file?.interrupt() }
    return file
  }

  /// Opens a file that `file(ofAddress:)` gave, as far as its first frames. Throws as
  /// `Decoding.decoder(for:)` does.
  public func decoder(of file: RemoteFile) throws(FileFailure) -> any SoundDecoder {
    let decoder = try file.probe { () throws(FileFailure) in try Decoding.decoder(for: file) }
    let bitRate = min(decoder.bitRate ?? file.announcedBitRate ?? 128_000, Self.highestBitRate)
    file.readAheadByteCount = max(file.readAheadByteCount, Self.aheadSeconds * bitRate / 8)
    return decoder
  }
}
