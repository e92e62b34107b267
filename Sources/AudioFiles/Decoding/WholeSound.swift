import AudioBasics

extension SoundFileReader {
  /// Reads all frames from the position to the end into a buffer of that length. It is meant for
  /// short files, such as a click or an impulse response: each sample takes 4 bytes.
  ///
  /// Throws `.invalidRequest` if more than `maximumFrames` frames are left, without reading if the
  /// file states its length; `.cannotOpen` if there is no memory for them; `.interrupted` if the
  /// source is interrupted; and the errors of `read`, also if frames are missing at the end.
  ///
  /// ```swift
  /// let click = SampleBuffer(frameCount: 480, channelCount: 2)
  /// var writer = try SoundFileWriter(
  ///   path: "click.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2,
  ///   overwrite: false)
  /// try writer.write(click, frames: 480)
  /// try writer.finish()
  ///
  /// var reader = try SoundFileReader(path: "click.wav")
  /// let sound = try reader.readAll(maximumFrames: 10 * reader.sampleRate)
  /// precondition(sound.frameCount == 480 && sound.channelCount == 2)
  /// ```
  public mutating func readAll(maximumFrames: Int) throws(FileFailure) -> SampleBuffer {
    let sound = try SampleBuffer.filled(
      from: path, statedFrames: frameCount.map { $0 - position }, maximumFrames: maximumFrames,
      channelCount: channelCount
    ) { buffer, target throws(FileFailure) in try read(into: &buffer, at: target) }
    guard !bytes.wasInterrupted else { throw .readingInterrupted(path) }
    return sound
  }
}

extension SoundDecoder {
  /// Reads all frames from the position to the end into a buffer of that length, as
  /// `SoundFileReader.readAll` does. A radio station, which has no end, is read up to the limit.
  ///
  /// Throws `.invalidRequest` if more than `maximumFrames` frames are left, without reading if
  /// `frameCount` is not an estimate; `.cannotOpen` if there is no memory for them; `.interrupted`
  /// if the decoder is interrupted; and the errors of `read`.
  ///
  /// ```swift
  /// let engine = DuplexEngine(device: "sim:clock=free,noise=-20")
  /// try await engine.record(to: "second.ogg")
  /// try await engine.run(seconds: 1)
  /// let decoder = try Decoding.decoder(forPath: "second.ogg")
  /// let sound = try decoder.readAll(maximumFrames: 60 * decoder.sampleRate)
  /// precondition(sound.frameCount == 48000)
  /// ```
  public func readAll(maximumFrames: Int) throws(FileFailure) -> SampleBuffer {
    let stated = isLengthEstimated ? nil : frameCount.map { max(0, $0) - max(0, position) }
    let sound = try SampleBuffer.filled(
      from: name, statedFrames: stated, maximumFrames: maximumFrames, channelCount: channelCount
    ) { buffer, target throws(FileFailure) in
      try readChecked(into: &buffer, at: target, frames: buffer.frameCount - target)
    }
    guard !isInterrupted else { throw .readingInterrupted(name) }
    return sound
  }
}

extension SampleBuffer {
  /// The frames of the first buffer for a source that does not state its length.
  private static let firstFrames = 65_536

  /// Returns a buffer with all frames that `read` stores, from the frame it is given on, until it
  /// returns 0. Throws its errors, and those of the functions above for the source `name`, which
  /// states that `statedFrames` frames are left.
  fileprivate static func filled(
    from name: String, statedFrames: Int?, maximumFrames: Int, channelCount: Int,
    _ read: (inout SampleBuffer, Int) throws(FileFailure) -> Int
  ) throws(FileFailure) -> SampleBuffer {
    let limit = max(0, maximumFrames)
    let statedFrames = statedFrames.map { max(0, $0) }
    if let statedFrames, statedFrames > limit { throw .tooLong(name, limit) }
    let none = SampleBuffer(frameCount: 0, channelCount: channelCount)
    var sound = try none.resized(to: min(statedFrames ?? firstFrames, limit), keeping: 0, name)
    // A source reports only beyond its last frame whether frames are missing.
    var beyond = SampleBuffer(frameCount: 1, channelCount: channelCount)
    var count = 0
    while true {
      if count < sound.frameCount {
        let added = try read(&sound, count)
        if added == 0 { break }
        count += added
      } else {
        if try read(&beyond, 0) == 0 { break }
        guard count < limit else { throw .tooLong(name, limit) }
        sound = try sound.resized(to: min(max(firstFrames, 2 * count), limit), keeping: count, name)
        sound.replace(at: count, with: beyond, from: 0, frames: 1)
        count += 1
      }
    }
    return count == sound.frameCount ? sound : try sound.resized(to: count, keeping: count, name)
  }

  /// Returns a buffer of `frames` frames that begins with the first `kept` frames of this one.
  /// Throws `.cannotOpen` if there is no memory for it.
  private func resized(
    to frames: Int, keeping kept: Int, _ name: String
  ) throws(FileFailure) -> SampleBuffer {
    guard Self.hasRoom(frameCount: frames, channelCount: channelCount) else {
      throw .noMemory(toDecode: name)
    }
    var larger = SampleBuffer(frameCount: frames, channelCount: channelCount)
    larger.replace(at: 0, with: self, from: 0, frames: kept)
    return larger
  }
}

/// Failures of reading a whole sound.
extension FileFailure {
  /// Returns the failure for a source with more than `frames` frames.
  fileprivate static func tooLong(_ name: String, _ frames: Int) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(name) has more than \(frames) frames.",
      hint: "Allow more frames, or read it in parts.")
  }

  /// Returns the failure for a source that was interrupted before its end.
  fileprivate static func readingInterrupted(_ name: String) -> FileFailure {
    FileFailure(.interrupted, "Reading \(name) was interrupted.", hint: "Read it again.")
  }
}
