/// Where in a device's frame the channels lie that a unit uses: memory that a `DeviceLayout` points to.
struct ChannelPlaces: ~Copyable, @unchecked Sendable {
  // @unchecked because nothing writes to the memory after the initialiser.

  /// Channels that are used; nil where all are, in their own order.
  let count: Int?
  private let memory: UnsafeMutablePointer<Int>?

  /// The channels of `selection`, in frames whose channels lie `channelStride` bytes apart.
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

  /// Bytes from the start of a frame to each channel; nil where all are used.
  var offsets: UnsafePointer<Int>? { memory.map { UnsafePointer($0) } }
}
