import AudioBasics
import AudioFiles
import RealtimeAudio

extension QueueItem.Part {
  /// Returns the source at an http or https address. Its name is the address without user and
  /// password.
  public static func address(
    _ address: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    QueueItem.Part(
      name: FileName.withoutUser(address), takesTime: true,
      settings: { _ throws(FileFailure) in settings },
      open: { opening throws(FileFailure) in
        try opening.decoder(ofAddress: address)
      })
  }

  /// Returns the sound file `path`; standard input if it is `-`.
  public static func file(
    _ path: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    var part = QueueItem.Part(
      name: path, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in try Decoding.decoder(forPath: path) })
    part.filePath = path
    return part
  }

  /// Returns the source of an existing decoder.
  static func once(
    _ decoder: sending any SoundDecoder, settings: TrackSettings
  ) -> QueueItem.Part {
    let name = decoder.name
    let id = ObjectIdentifier(decoder)
    let box = MutexBox<GivenDecoder?>(GivenDecoder(decoder))
    var part = QueueItem.Part(
      name: name, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in
        guard let decoder = box.withLock({ $0 })?.decoder else {
          throw FileFailure(
            .cannotOpen, "The decoder of \(name) was played already, and is closed.",
            hint: "Enqueue another decoder, or the file itself.")
        }
        if decoder.position != 0 { try decoder.seek(toFrame: 0) }
        return decoder
      })
    part.decoderID = id
    part.release = { box.withLock { $0 = nil } }
    return part
  }
}

extension QueueItem.Part {
  /// Restarts `decoder` from its beginning instead of opening another one.
  mutating func restart(_ decoder: any SoundDecoder) {
    let box = GivenDecoder(keeping: decoder)
    takesTime = false
    open = { _ throws(FileFailure) in
      if box.decoder.position != 0 { try box.decoder.seek(toFrame: 0) }
      return box.decoder
    }
  }

  /// Continues with `decoder`, which is positioned after it is open.
  mutating func resume(with decoder: any SoundDecoder) {
    let box = GivenDecoder(keeping: decoder)
    takesTime = false
    open = { _ throws(FileFailure) in box.decoder }
  }

  /// Continues with `decoder` at `boundary`, or at its current position if it can neither seek nor
  /// restart, with these settings; with the part's own settings if they are nil.
  mutating func resume(
    with decoder: any SoundDecoder, at boundary: Double, settings: TrackSettings?
  ) {
    resume(with: decoder)
    let box = GivenDecoder(keeping: decoder)
    let start = decoder.canBegin ? Int(rounding: boundary) : decoder.position
    let own = self.settings
    if decoder.canBegin, !decoder.supportsSeeking {
      open = { _ throws(FileFailure) in
        try box.decoder.seek(toFrame: 0)
        return box.decoder
      }
    }
    self.settings = { decoder throws(FileFailure) in
      var settings = if let settings { settings } else { try own(decoder) }
      settings.range.startFrame = start
      return settings
    }
  }
}

extension SoundDecoder {
  /// Whether the decoder can start again: by a seek, or with kept samples.
  var canBegin: Bool { supportsSeeking || (self as? RestartableDecoder)?.canRestart == true }
}

/// A decoder that is transferred to the thread that reads it.
private struct GivenDecoder: @unchecked Sendable {
  // @unchecked because the caller does not use the decoder after passing it.
  let decoder: any SoundDecoder

  init(_ decoder: sending any SoundDecoder) { self.decoder = decoder }

  /// Creates a transfer of a decoder that was ended before it was played, or with its session, and
  /// is no longer read.
  init(keeping decoder: any SoundDecoder) { self.decoder = decoder }
}
