import Glibc

/// An Ogg Vorbis file being written.
final class VorbisSink: SampleSink {
  let descriptor: Int32
  private let encoder: VorbisEncoder
  /// Frames in the pages of the file.
  private var pagedFrameCount = 0
  private var byteCount = 0
  private var trouble: SystemError?
  private var isOpen = true
  private(set) var frameCount = 0
  var notes: RecordingNotes

  /// Begins an empty file behind `descriptor` with what `encoder` has to say first.
  init(
    _ descriptor: consuming FileDescriptor, _ encoder: VorbisEncoder, notes: RecordingNotes
  ) throws(SoundFileRefusal) {
    self.encoder = encoder
    self.notes = notes
    self.descriptor = descriptor.release()
    do throws(SystemError) {
      try writePages(early: true)
    } catch {
      throw SoundFileRefusal(error)
    }
  }

  deinit {
    if isOpen { try? close() }
  }

  var isReadable: Bool { pagedFrameCount > 0 }

  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    if let trouble { throw trouble }
    guard frames > 0 else { return }
    encoder.take(samples, frames: frames)
    frameCount += frames
    try writePages(early: false)
  }

  func refresh() throws(SystemError) {
    if trouble == nil { try writePages(early: true) }
  }

  func synchronize() throws(SystemError) {
    try OutputBytes.synchronize(descriptor)
  }

  func close() throws(SystemError) {
    guard isOpen else { return }
    isOpen = false
    var failure: SystemError?
    if trouble == nil {
      encoder.end()
      do throws(SystemError) {
        try writePages(early: true)
      } catch {
        failure = error
      }
    }
    if Glibc.close(descriptor) != 0, failure == nil { failure = .last }
    if let failure { throw failure }
  }

  private func writePages(early: Bool) throws(SystemError) {
    while let page = encoder.nextPage(early: early) {
      for part in [page.head, page.body] {
        guard let base = part.baseAddress else { continue }
        guard let error = OutputBytes.write(base, count: part.count, to: descriptor).error else {
          continue
        }
        // Part of a page is no use to anybody, nor is what would follow a missing one.
        OutputBytes.cut(descriptor, at: byteCount)
        trouble = error
        frameCount = pagedFrameCount
        throw error
      }
      byteCount += page.head.count + page.body.count
      pagedFrameCount = max(pagedFrameCount, page.frameCount)
    }
  }
}
