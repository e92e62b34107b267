// Audio thread.

/// The byte offsets of the channels that a unit uses in a device's frame: memory that a
/// `DeviceLayout` points to.
struct ChannelOffsets: ~Copyable, @unchecked Sendable {
  // @unchecked because nothing writes to the memory after the initialiser.

  /// The number of channels that are used; nil if all are used in their own order.
  let count: Int?
  private let memory: UnsafeMutablePointer<Int>?

  /// Creates the offsets of the channels of `selection`, in frames whose channels are
  /// `channelStride` bytes apart.
  init(_ selection: ChannelSelection?, channelStride: Int) {
    count = selection?.channels.count
    memory = selection.map { selection in
      let memory = UnsafeMutablePointer<Int>.allocate(capacity: selection.channels.count)
      for (index, channel) in selection.channels.enumerated() {
        (memory + index).initialize(to: (channel - 1) * channelStride)
      }
      return memory
    }
  }

  deinit {
    memory?.deallocate()
  }

  /// The number of bytes from the start of a frame to each channel; nil if all channels are used in
  /// order.
  var offsets: UnsafePointer<Int>? {
    @_noLocks get { UnsafePointer(memory) }
  }
}
