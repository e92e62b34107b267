import CSndFile

/// A place in a sound file that has a name.
public struct SoundFileMarker: Sendable, Equatable {
  /// The frame it stands before, the first one being 0.
  public var frame: Int
  /// What it is called.
  public var label: String

  /// What a marker is called where `frames` frames were lost.
  public static func gapLabel(frames: Int) -> String { "\(frames) frames lost" }

  /// What a marker is called where a recording went on after a pause of `frames` frames.
  public static func pauseLabel(frames: Int) -> String { "\(frames) frames paused" }

  /// Frames that were lost there, where that is what it says.
  public var gapFrames: Int? {
    guard let number = label.split(separator: " ").first.flatMap({ Int($0) }), number > 0,
      number <= FileBounds.frameCount, label == Self.gapLabel(frames: number)
    else { return nil }
    return number
  }

  /// A marker before `frame`.
  public init(frame: Int, label: String) {
    self.frame = frame
    self.label = label
  }
}

extension SoundFileMarker {
  /// Markers of one file that are read, at most.
  static let most = 10_000

  /// The markers of a file, as far as libsndfile reads its kind's.
  static func all(of handle: borrowing SoundFileHandle) -> [SoundFileMarker] {
    var count: UInt32 = 0
    let size = Int32(MemoryLayout<UInt32>.size)
    guard sf_command(handle.pointer, Int32(SFC_GET_CUE_COUNT), &count, size) == Int32(SF_TRUE),
      count > 0,
      count <= most
    else { return [] }
    // A number of points, and the points.
    let byteCount =
      MemoryLayout<UInt32>.size + Int(count) * MemoryLayout<SF_CUE_POINT>.stride
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    guard
      sf_command(handle.pointer, Int32(SFC_GET_CUE), memory.baseAddress, Int32(byteCount))
        == Int32(SF_TRUE)
    else { return [] }
    return (0..<Int(count)).map { index in
      let point = memory.loadUnaligned(
        fromByteOffset: MemoryLayout<UInt32>.size + index * MemoryLayout<SF_CUE_POINT>.stride,
        as: SF_CUE_POINT.self)
      return SoundFileMarker(
        frame: Int(point.sample_offset), label: SoundFileTags.text(inField: point.name))
    }
  }
}
