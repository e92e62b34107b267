import AudioBasics
import AudioFiles
import RealtimeAudio

extension QueueItem.Part {
  /// What is behind an http or https address. Its name is the address without user and password.
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

  /// The sound file `path`; standard input where it is `-`.
  public static func file(
    _ path: String, settings: TrackSettings = TrackSettings()
  ) -> QueueItem.Part {
    var part = QueueItem.Part(
      name: path, settings: { _ throws(FileFailure) in settings },
      open: { _ throws(FileFailure) in try Decoding.decoder(forPath: path) })
    part.filePath = path
    return part
  }

  /// A decoder that is there already.
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
  /// Has `decoder` begin anew instead of opening another.
  mutating func restart(_ decoder: any SoundDecoder) {
    let box = GivenDecoder(keeping: decoder)
    takesTime = false
    open = { _ throws(FileFailure) in
      if box.decoder.position != 0 { try box.decoder.seek(toFrame: 0) }
      return box.decoder
    }
  }

  /// Has `decoder` go on as it is told once it is open.
  mutating func goOn(with decoder: any SoundDecoder) {
    let box = GivenDecoder(keeping: decoder)
    takesTime = false
    open = { _ throws(FileFailure) in box.decoder }
  }

  /// Has `decoder` go on at `boundary`, or where it stands if it can do no better, in these
  /// settings; in the part's own where they are nil.
  mutating func goOn(with decoder: any SoundDecoder, at boundary: Double, settings: TrackSettings?)
  {
    goOn(with: decoder)
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
  /// Whether it can begin anew: by a seek, or with what was kept of it.
  var canBegin: Bool { supportsSeeking || (self as? RestartableDecoder)?.canRestart == true }
}

/// A decoder on its way to the thread that reads it.
private struct GivenDecoder: @unchecked Sendable {
  // @unchecked because the giver does not use it any more.
  let decoder: any SoundDecoder

  init(_ decoder: sending any SoundDecoder) { self.decoder = decoder }

  /// Of a source that was ended before it was heard, or with its session, and is not read any more.
  init(keeping decoder: any SoundDecoder) { self.decoder = decoder }
}
