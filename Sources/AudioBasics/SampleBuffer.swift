// Audio thread.

import Glibc

/// Interleaved 32-bit float frames with one owner.
///
/// The memory is allocated once and freed at the end of the owner's lifetime. Create it off the
/// audio thread; use it on any thread. It is passed as a whole (`borrowing`, `inout`), because the
/// compiler cannot yet prove a local `Span` free of reference counts, but can prove this type.
///
/// ```swift
/// var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
/// buffer[1, 1] = 0.5  // frame 1, channel 1
/// precondition(buffer[3] == 0.5 && buffer.sampleCount == 128)
/// ```
public struct SampleBuffer: ~Copyable, @unchecked Sendable {
  // @unchecked because the pointer has one owner, which moves with the value.
  /// The first sample, for code that uses pointers (below the waterline, see README).
  @usableFromInline package let base: UnsafeMutablePointer<Float>

  /// The number of frames in the buffer.
  public let frameCount: Int
  /// The number of samples in a frame.
  public let channelCount: Int

  /// The number of samples in the buffer: frames times channels.
  public var sampleCount: Int {
    @_noLocks @inlinable get { frameCount &* channelCount }
  }

  /// Creates a silent buffer. Writes to all its pages, so that the audio thread never causes page
  /// faults. A negative number of frames or channels counts as 0; a buffer for which there is no
  /// memory is a fatal error with a message (see `hasRoom`).
  public init(frameCount: Int, channelCount: Int) {
    self.frameCount = max(0, frameCount)
    self.channelCount = max(0, channelCount)
    let (samples, isTooMany) = self.frameCount.multipliedReportingOverflow(by: self.channelCount)
    // The available memory is not checked for buffers below 64 MiB.
    requirement(
      !isTooMany
        && (samples < 1 << 24 || Self.hasRoom(frameCount: frameCount, channelCount: channelCount)),
      "There is no memory for a buffer of that size.")
    let count = max(1, samples)
    // Aligned to a cache line, so that vector loads do not cross cache lines.
    base = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Float>.stride, alignment: 64
    ).initializeMemory(as: Float.self, repeating: 0, count: count)
  }

  /// Returns whether there is memory for such a buffer. Creating a buffer without enough memory
  /// ends the program: call this before creating a large one.
  public static func hasRoom(frameCount: Int, channelCount: Int) -> Bool {
    let (samples, isTooMany) = frameCount.multipliedReportingOverflow(by: channelCount)
    guard !isTooMany, samples >= 0, samples < Int.max / 8 else { return false }
    // `malloc` is not used, because the compiler removes the call if the memory is not used.
    let byteCount = max(1, samples) * MemoryLayout<Float>.stride
    let kind = MAP_PRIVATE | MAP_ANONYMOUS
    guard let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, kind, -1, 0),
      memory != MAP_FAILED
    else { return false }
    munmap(memory, byteCount)
    return true
  }

  deinit {
    base.deallocate()
  }

  /// The sample at `index`, counted from the first channel of the first frame.
  public subscript(index: Int) -> Float {
    @_noLocks @inlinable get {
      requirement(
        index >= 0 && index < sampleCount,
        "The sample is outside of the buffer.")
      return base[index]
    }
    @_noLocks @inlinable set {
      requirement(
        index >= 0 && index < sampleCount,
        "The sample is outside of the buffer.")
      base[index] = newValue
    }
  }

  /// The sample at a frame and a channel, both counted from 0.
  public subscript(frame: Int, channel: Int) -> Float {
    @_noLocks @inlinable get {
      requireSample(frame, channel)
      return base[frame &* channelCount &+ channel]
    }
    @_noLocks @inlinable set {
      requireSample(frame, channel)
      base[frame &* channelCount &+ channel] = newValue
    }
  }

  /// Ends the program with a sentence unless there are such a frame and such a channel.
  @_noLocks @inlinable @inline(__always)
  func requireSample(_ frame: Int, _ channel: Int) {
    requirement(
      frame >= 0 && frame < frameCount && channel >= 0 && channel < channelCount,
      "The frame or channel is outside of the buffer.")
  }

  /// The largest number of channels of sound in this library; libsndfile has the same.
  package static var maximumChannels: Int { @_noLocks get { 1024 } }

  /// Ends the program with a sentence unless `count` frames, starting at `first`, are within the
  /// buffer.
  @_noLocks @inlinable @inline(__always)
  package func requireFrames(from first: Int, _ count: Int) {
    // The sum of both could overflow and then be below the number of frames.
    requirement(
      first >= 0 && count >= 0 && first <= frameCount &- count,
      "The frames are outside of the buffer.")
  }

  /// Returns the four samples that start at `index`.
  @_noLocks @inlinable
  public func fourSamples(at index: Int) -> SIMD4<Float> {
    requirement(
      index >= 0 && index <= sampleCount &- 4,
      "The sample is outside of the buffer.")
    return UnsafeRawPointer(base + index).loadUnaligned(as: SIMD4<Float>.self)
  }

  /// Writes four samples, starting at `index`.
  @_noLocks @inlinable
  public mutating func setFourSamples(_ samples: SIMD4<Float>, at index: Int) {
    requirement(
      index >= 0 && index <= sampleCount &- 4,
      "The sample is outside of the buffer.")
    UnsafeMutableRawPointer(base + index).storeBytes(of: samples, as: SIMD4<Float>.self)
  }

  /// All samples, for reading off the audio thread.
  public var samples: Span<Float> {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe Span(_unsafeStart: base, count: sampleCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// All samples, for writing off the audio thread.
  public var mutableSamples: MutableSpan<Float> {
    @_lifetime(&self)
    mutating get {
      let span = unsafe MutableSpan(_unsafeStart: base, count: sampleCount)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }
}
