/// Mends Apple's CAF: the size of its data chunk, the only one that depends on the length.
struct CoreAudioRepair {
  private let file: DamagedFile
  private let walk: ChunkWalk
  /// The samples come behind a number that counts edits.
  private static let editCountByteCount = 4

  init(_ file: DamagedFile) {
    self.file = file
    walk = ChunkWalk(file: file, style: .coreAudio)
  }

  /// What is wrong, and what becomes of it. Throws `.unusableContents` where the chunks do not lead
  /// to the samples.
  func finding() throws(FileFailure) -> RepairFinding {
    var found: SampleLayout?
    var place = 8
    var data: Chunk?
    while data == nil, let chunk = try walk.chunk(at: place) {
      switch chunk.identifier {
      case "desc":
        found = try SampleLayout(description: file.bytes(at: chunk.body, count: 32))
        guard found != nil else { throw .unknownSamples(file.path) }
      case "data": data = chunk
      default: break
      }
      guard let next = walk.next(after: chunk) else { break }
      place = next
    }
    guard let layout = found else { throw .lost("description", of: "CAF", file.path) }
    guard let data, data.body + Self.editCountByteCount <= file.byteCount else {
      throw .lost("samples", of: "CAF", file.path)
    }
    let isOpen = data.size == -1
    let declared = max(Self.editCountByteCount, data.size) - Self.editCountByteCount
    let stretch = try SampleStretch(
      walk, start: data.body + Self.editCountByteCount, declared: isOpen ? nil : declared,
      frameByteCount: layout.blockByteCount, formEnd: -1)
    let frames = layout.frames(in: stretch.byteCount)
    let headerFrames = isOpen ? nil : layout.frames(in: declared)
    var faults: [String] = []
    if isOpen { faults.append("the header left the length open") }
    if let headerFrames, headerFrames != frames { faults.append("the header said \(headerFrames)") }
    faults += stretch.faults
    var plan = RepairPlan(byteCount: file.byteCount)
    let size = stretch.byteCount + Self.editCountByteCount
    if faults.isEmpty, data.size != size {
      faults.append("the header said that the samples have \(data.size) bytes, not \(size)")
    }
    if !faults.isEmpty {
      try plan.cut(at: stretch.end, in: file)
      try plan.set(walk.style.field(size), at: data.body - 8, in: file)
    }
    return RepairFinding(
      path: file.path, fileFormat: .caf, frames: frames, sampleRate: layout.sampleRate,
      headerFrames: headerFrames, faults: faults, plan: plan)
  }
}
