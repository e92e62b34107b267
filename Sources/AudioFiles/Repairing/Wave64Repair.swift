/// Mends Sony's Wave64: chunks of 16-byte names, at multiples of eight bytes, with 64-bit sizes that
/// count the chunk's head.
struct Wave64Repair {
  private let file: DamagedFile
  private let walk: ChunkWalk

  init(_ file: DamagedFile) {
    self.file = file
    walk = ChunkWalk(file: file, style: .wave64)
  }

  /// What is wrong, and what becomes of it. Throws `.unusableContents` where the chunks do not lead
  /// to the samples.
  func finding() throws(FileFailure) -> RepairFinding {
    var found: SampleLayout?
    var fact: Chunk?
    var place = 40
    var data: Chunk?
    while data == nil, let chunk = try walk.chunk(at: place) {
      switch chunk.identifier {
      case "fmt ":
        found = try SampleLayout(
          waveFormat: file.bytes(at: chunk.body, count: max(0, min(chunk.size, 64))))
        guard found != nil else { throw .unknownSamples(file.path) }
      case "fact" where chunk.size >= 8: fact = chunk
      case "data": data = chunk
      default: break
      }
      guard let next = walk.next(after: chunk) else { break }
      place = next
    }
    guard let layout = found else { throw .lost("format chunk", of: "Wave64", file.path) }
    guard let data else { throw .lost("samples", of: "Wave64", file.path) }
    // A head alone, or less, is what a program writes that has not counted yet.
    let declared = data.size < 0 ? 0 : data.size
    let bits = try file.bytes(at: 16, count: 8).number(at: 0, 8, bigEndian: false) ?? 0
    let form = Int(min(bits, UInt64(FileBounds.byteCount)))
    let stretch = try SampleStretch(
      walk, start: data.body, declared: declared, frameByteCount: layout.blockByteCount,
      formEnd: form)
    let frames = layout.frames(in: stretch.byteCount)
    let headerFrames = layout.frames(in: declared)
    var faults = headerFrames == frames ? [] : ["the header said \(headerFrames)"]
    faults += stretch.faults
    var plan = RepairPlan(byteCount: file.byteCount)
    let size = stretch.end - stretch.foreignByteCount
    // The last chunk may be padded or not, and its padding be counted or not.
    if faults.isEmpty, abs(form - size) > 7 {
      faults.append("the header said that the file has \(form) bytes, not \(size)")
    }
    if !faults.isEmpty {
      try plan.cut(at: stretch.end, in: file)
      if let fact, fact.start < data.start {
        try plan.set(walk.style.field(frames), at: fact.body, in: file)
      }
      try plan.set(
        walk.style.field(stretch.byteCount + walk.style.headByteCount), at: data.body - 8, in: file)
      try plan.set(walk.style.field(size), at: 16, in: file)
    }
    return RepairFinding(
      path: file.path, fileFormat: .w64, frames: frames, sampleRate: layout.sampleRate,
      headerFrames: headerFrames, faults: faults, plan: plan)
  }
}
