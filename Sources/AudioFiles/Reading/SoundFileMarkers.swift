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
  private static let most = 10_000

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

extension SoundFileMarker {
  /// The markers of a WAV or RF64 file: a chunk `cue ` says where they stand, and a chunk `LIST`
  /// of the kind `adtl` what they are called. libsndfile reads no marker of an RF64 file, of a WAV
  /// file with more than some 2,500 none either, and only the first 900 labels. nil where this is
  /// neither.
  static func all(inWave bytes: BufferedBytes) throws(FileFailure) -> [SoundFileMarker]? {
    guard var chunks = try WaveChunks(bytes) else { return nil }
    let isBigEndian = chunks.isBigEndian
    var points: [(identifier: Int, frame: Int)] = []
    var labels: [Int: String] = [:]
    for _ in 0..<ChunkWalk.most {
      guard let chunk = try chunks.next() else { break }
      let contents = chunks.contents(of: chunk)
      switch chunk.identifier {
      case "cue " where points.count < most:
        points += try Self.points(in: contents, of: bytes, isBigEndian)
      case "LIST": try Self.readLabels(in: contents, of: bytes, isBigEndian, into: &labels)
      default: break
      }
    }
    return points.prefix(most).map {
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
    for offset in places.prefix(min(count, most)) {
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
    var offset = range.lowerBound + 4
    for _ in 0..<WaveChunks.mostEntries {
      guard offset < range.upperBound, labels.count < most else { return }
      let head = try bytes.bytes(at: offset, count: 12)
      guard let size = head.integer(at: 4, 4, bigEndian: isBigEndian), size >= 4 else { return }
      if head.identifier(at: 0) == "labl",
        let identifier = head.integer(at: 8, 4, bigEndian: isBigEndian)
      {
        let text = try bytes.bytes(at: offset + 12, count: min(size - 4, longestLabel))
        labels[identifier] = String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
      }
      offset += 8 + size + (size & 1)
    }
  }

  /// Bytes of a label that are read, at most.
  private static let longestLabel = 1000
}
