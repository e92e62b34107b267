/// Memory in which samples take the shape that a file gives them, a few at a time.
struct PackingSpace: ~Copyable {
  let base: UnsafeMutableRawPointer
  /// Frames that fit, at four bytes a sample.
  let frameCount: Int

  init(channelCount: Int) {
    frameCount = max(1, 8192 / channelCount)
    base = .allocate(byteCount: frameCount * channelCount * 4, alignment: 64)
  }

  deinit {
    base.deallocate()
  }
}
