// Audio thread.

import AudioBasics

extension SampleBuffer {
  /// The first `frames` frames, to lend for a cycle without a copy, as long as the buffer lives.
  @_noLocks
  func lent(_ frames: Int) -> DeviceFrames {
    let count = min(frames, frameCount)
    return DeviceFrames(
      first: base, second: base, firstCount: count, frameCount: count,
      layout: DeviceLayout(interleaved: .floatLE, channelCount: channelCount))
  }
}

/// A period in a device's format that its owner keeps: for devices that have no memory of their
/// own to lend.
public struct DeviceBuffer: ~Copyable, @unchecked Sendable {
  // @unchecked because the memory has one owner, which moves with the value.
  let memory: UnsafeMutableRawPointer
  let layout: DeviceLayout
  let frameCount: Int

  /// Room for `frameCount` silent frames.
  public init(format: SampleFormat, channelCount: Int, frameCount: Int) {
    self.init(
      DeviceLayout(interleaved: format, channelCount: channelCount), frameCount: frameCount)
  }

  init(_ layout: DeviceLayout, frameCount: Int) {
    self.layout = layout
    self.frameCount = frameCount
    let byteCount = max(1, frameCount * layout.channelCount * layout.format.byteCount)
    memory = .allocate(byteCount: byteCount, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
  }

  deinit {
    memory.deallocate()
  }

  /// The first `frames` frames, to lend for a cycle.
  @_noLocks
  public func frames(_ frames: Int) -> DeviceFrames {
    DeviceFrames(
      first: memory, second: memory, firstCount: min(frames, frameCount),
      frameCount: min(frames, frameCount), layout: layout)
  }

  /// Writes `frames` frames of `buffer`, from `firstFrame` on, to the start.
  @_noLocks
  public mutating func store(_ buffer: borrowing SampleBuffer, from firstFrame: Int, frames: Int) {
    _ = self.frames(frames).encode(buffer, from: firstFrame, frames: frames, at: 0)
  }

  /// Reads `frames` frames from the start into `buffer`, at `firstFrame` and after.
  @_noLocks
  public func load(frames: Int, into buffer: inout SampleBuffer, at firstFrame: Int) {
    self.frames(frames).decode(from: 0, frames: frames, into: &buffer, at: firstFrame)
  }
}
