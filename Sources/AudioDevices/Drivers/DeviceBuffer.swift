// Audio thread.

import AudioBasics

extension SampleBuffer {
  /// Returns the first `frames` frames, to lend for a cycle without a copy. They are valid as long
  /// as the buffer lives.
  @_noLocks
  func lent(_ frames: Int) -> DeviceFrames {
    let count = min(frames, frameCount)
    return DeviceFrames(
      first: base, second: base, firstCount: count, frameCount: count,
      layout: DeviceLayout(interleaved: .floatLE, channelCount: channelCount))
  }
}

/// A buffer of one period in a device's format, for devices that have no memory of their own to
/// lend.
public struct DeviceBuffer: ~Copyable, @unchecked Sendable {
  // @unchecked because the memory has one owner, which moves with the value.
  let memory: UnsafeMutableRawPointer
  let layout: DeviceLayout
  let frameCount: Int
  /// The layout of the frames that are lent: the same, or some of its channels.
  private let lentLayout: DeviceLayout
  private let places: ChannelOffsets

  /// Creates a buffer of `frameCount` silent frames of `channelCount` channels, of which
  /// `selection` is lent. A negative number of frames or channels counts as 0. More than 1,024
  /// channels, selected channels that the buffer does not have, and a buffer for which there is no
  /// memory end the program with a message.
  public init(
    format: SampleFormat, channelCount: Int, frameCount: Int,
    lending selection: ChannelSelection? = nil
  ) {
    let (channelCount, frameCount) = (max(0, channelCount), max(0, frameCount))
    requirement(
      channelCount <= SampleBuffer.maximumChannels,
      "The buffer of a device has at most 1024 channels.")
    requirement(
      selection?.channels.allSatisfy { $0 <= channelCount } ?? true,
      "A channel was selected that the device does not have.")
    // No sample has more bytes than one of a sample buffer.
    requirement(
      frameCount < 1 << 14
        || SampleBuffer.hasRoom(frameCount: frameCount, channelCount: channelCount),
      "There is no memory for a buffer of that size.")
    self.init(
      DeviceLayout(interleaved: format, channelCount: channelCount), frameCount: frameCount,
      lending: selection)
  }

  init(_ layout: DeviceLayout, frameCount: Int, lending selection: ChannelSelection? = nil) {
    let places = ChannelOffsets(selection, channelStride: layout.channelStride)
    self.layout = layout
    lentLayout = DeviceLayout(layout, only: places)
    self.places = places
    self.frameCount = frameCount
    let byteCount = max(1, frameCount * layout.channelCount * layout.format.byteCount)
    memory = .allocate(byteCount: byteCount, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
  }

  deinit {
    memory.deallocate()
  }

  /// Returns the first `frames` frames of the channels that are lent, for a cycle.
  @_noLocks
  public func frames(_ frames: Int) -> DeviceFrames { self.frames(frames, in: lentLayout) }

  /// Returns the first `frames` frames, whose samples are arranged as in `layout`.
  @_noLocks
  func frames(_ frames: Int, in layout: DeviceLayout) -> DeviceFrames {
    DeviceFrames(
      first: memory, second: memory, firstCount: min(frames, frameCount),
      frameCount: min(frames, frameCount), layout: layout)
  }

  /// Writes `frames` frames of `buffer`, which has all channels, from `firstFrame` on, to the start
  /// of this buffer.
  @_noLocks
  public mutating func store(_ buffer: borrowing SampleBuffer, from firstFrame: Int, frames: Int) {
    _ = self.frames(frames, in: layout).encode(buffer, from: firstFrame, frames: frames, at: 0)
  }

  /// Reads `frames` frames of all channels from the start of this buffer into `buffer`, at
  /// `firstFrame` and after.
  @_noLocks
  public func load(frames: Int, into buffer: inout SampleBuffer, at firstFrame: Int) {
    self.frames(frames, in: layout).decode(from: 0, frames: frames, into: &buffer, at: firstFrame)
  }
}
