/// The samples of a buffer as an array, off the audio thread.
extension SampleBuffer {
  /// Creates a buffer that contains `samples`: the channels of the first frame, then those of the
  /// second. Samples that do not make whole frames, and fewer than one channel, are fatal errors
  /// with a message.
  ///
  /// ```swift
  /// let buffer = SampleBuffer([0.1, 0.2, 0.3, 0.4], channelCount: 2)
  /// precondition(buffer.frameCount == 2 && buffer[1, 0] == 0.3)
  /// precondition([Float](buffer) == [0.1, 0.2, 0.3, 0.4])
  /// ```
  public init(_ samples: [Float], channelCount: Int) {
    requirement(channelCount > 0, "The number of channels of samples must be above 0.")
    requirement(
      samples.count.isMultiple(of: channelCount),
      "The number of samples must be a multiple of the number of channels.")
    self.init(frameCount: samples.count / channelCount, channelCount: channelCount)
    base.update(from: samples, count: samples.count)
  }
}

extension [Float] {
  /// Creates an array of all samples of `buffer`: the channels of the first frame, then those of
  /// the second. It allocates memory: not for the audio thread.
  public init(_ buffer: borrowing SampleBuffer) {
    self.init(UnsafeBufferPointer(start: buffer.base, count: buffer.sampleCount))
  }
}
