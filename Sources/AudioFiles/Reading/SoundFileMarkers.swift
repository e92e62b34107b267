import CSndFile

/// A named position in an audio file.
public struct SoundFileMarker: Sendable, Equatable {
  /// The index of the frame that follows the marker. The first frame has index 0.
  public var frame: Int
  /// The name of the marker.
  public var label: String

  /// Returns the name of a marker for `frames` lost frames.
  public static func gapLabel(frames: Int) -> String { "\(frames) frames lost" }

  /// Returns the name of a marker for a recording that continues after a pause of `frames` frames.
  public static func pauseLabel(frames: Int) -> String { "\(frames) frames paused" }

  /// The number of lost frames, if this marker reports lost frames; otherwise nil.
  public var gapFrames: Int? {
    guard let number = label.split(separator: " ").first.flatMap({ Int($0) }), number > 0,
      number <= FileBounds.frameCount, label == Self.gapLabel(frames: number)
    else { return nil }
    return number
  }

  /// Creates a marker before `frame`.
  public init(frame: Int, label: String) {
    self.frame = frame
    self.label = label
  }
}

extension SoundFileMarker {
  /// The maximum number of markers read from one file.
  private static let maximumCount = 10_000

  /// Returns the markers of a file, as far as libsndfile reads markers of its format.
  static func all(of handle: borrowing SoundFileHandle) -> [SoundFileMarker] {
    var count: UInt32 = 0
    let size = Int32(MemoryLayout<UInt32>.size)
    guard sf_command(handle.pointer, Int32(SFC_GET_CUE_COUNT), &count, size) == Int32(SF_TRUE),
      count > 0,
      count <= maximumCount
    else { return [] }
    // The number of points, followed by the points.
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

extension SoundFileMarker {
  /// Returns the markers of a WAV or RF64 file: the `cue ` chunk contains their positions, and a
  /// `LIST` chunk of type `adtl` their names. libsndfile reads no markers of an RF64 file, none of
  /// a WAV file with more than about 2,500 markers, and only the first 900 names. Returns nil if
  /// this is neither a WAV nor an RF64 file.
  static func all(inWave bytes: BufferedBytes) throws(FileFailure) -> [SoundFileMarker]? {
    guard var chunks = try WaveChunks(bytes) else { return nil }
    let isBigEndian = chunks.isBigEndian
    var points: [(identifier: Int, frame: Int)] = []
    var labels: [Int: String] = [:]
    for _ in 0..<ChunkWalk.maximumChunkCount {
      guard let chunk = try chunks.next() else { break }
      let contents = chunks.contents(of: chunk)
      switch chunk.identifier {
      case "cue " where points.count < maximumCount:
        points += try Self.points(in: contents, of: bytes, isBigEndian)
      case "LIST": try Self.readLabels(in: contents, of: bytes, isBigEndian, into: &labels)
      default: break
      }
    }
    return points.prefix(maximumCount).map {
      SoundFileMarker(frame: $0.frame, label: labels[$0.identifier] ?? "")
    }
  }

  private static func points(
    in range: Range<Int>, of bytes: BufferedBytes, _ isBigEndian: Bool
  ) throws(FileFailure) -> [(identifier: Int, frame: Int)] {
    var points: [(identifier: Int, frame: Int)] = []
    let head = try bytes.bytes(at: range.lowerBound, count: 4)
    let count = head.integer(at: 0, 4, bigEndian: isBigEndian) ?? 0
    let places = stride(from: range.lowerBound + 4, to: range.upperBound, by: 24)
    for offset in places.prefix(min(count, maximumCount)) {
      let point = try bytes.bytes(at: offset, count: 24)
      guard let identifier = point.integer(at: 0, 4, bigEndian: isBigEndian),
        let frame = point.integer(at: 20, 4, bigEndian: isBigEndian)
      else {
        break
      }
      points.append((identifier, frame))
    }
    return points
  }

  private static func readLabels(
    in range: Range<Int>, of bytes: BufferedBytes, _ isBigEndian: Bool,
    into labels: inout [Int: String]
  ) throws(FileFailure) {
    guard try bytes.bytes(at: range.lowerBound, count: 4).identifier(at: 0) == "adtl" else {
      return
    }
    try WaveChunks.visit(range.dropFirst(4), of: bytes, isBigEndian: isBigEndian) {
      (entry) throws(FileFailure) -> Bool in
      guard labels.count < maximumCount, entry.size >= 4 else { return false }
      if entry.identifier == "labl",
        let identifier = try bytes.bytes(at: entry.body, count: 4).integer(
          at: 0, 4, bigEndian: isBigEndian)
      {
        let text = try bytes.bytes(
          at: entry.body + 4, count: min(entry.size - 4, maximumLabelLength))
        labels[identifier] = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
      }
      return true
    }
  }

  /// The maximum number of bytes of a name that are read.
  private static let maximumLabelLength = 1000
}
