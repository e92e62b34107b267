/// Mends Apple's AIFF and AIFF-C: the frames its common chunk counts, the size of its sound data
/// chunk and of the whole.
struct AIFFRepair {
  private let file: DamagedFile
  private let walk: ChunkWalk
  /// Two numbers stand before the samples, for writers that align them to blocks.
  private static let alignmentByteCount = 8

  init(_ file: DamagedFile) {
    self.file = file
    walk = ChunkWalk(file: file, style: .aiff)
  }

  /// What is wrong, and what becomes of it. Throws `.unusableContents` where the chunks do not lead
  /// to the samples, or hold more than AIFF can say.
  func finding() throws(FileFailure) -> RepairFinding {
    let isCompressed = try file.bytes(at: 8, count: 4).identifier(at: 0) == "AIFC"
    var common: Chunk?
    var sound: Chunk?
    var place = 12
    while let chunk = try walk.chunk(at: place) {
      if chunk.identifier == "COMM", common == nil { common = chunk }
      if chunk.identifier == "SSND", sound == nil { sound = chunk }
      guard common == nil || sound == nil, let next = walk.next(after: chunk) else { break }
      place = next
    }
    guard let common else { throw .lost("common chunk", of: "AIFF", file.path) }
    let body = try file.bytes(at: common.body, count: 22)
    guard let layout = SampleLayout(common: body, isCompressed: isCompressed) else {
      throw .unknownSamples(file.path)
    }
    guard let sound,
      let offset = try file.bytes(at: sound.body, count: 4).integer(at: 0, 4, bigEndian: true),
      offset % 2 == 0, offset <= file.byteCount - sound.body - Self.alignmentByteCount
    else { throw .lost("samples", of: "AIFF", file.path) }
    let start = sound.body + Self.alignmentByteCount + offset
    let declared = max(0, sound.size - Self.alignmentByteCount - offset)
    let form = try file.bytes(at: 4, count: 4).integer(at: 0, 4, bigEndian: true) ?? 0
    let stretch = try SampleStretch(
      walk, start: start, declared: declared, frameByteCount: layout.blockByteCount,
      formEnd: form + 8)
    let frames = layout.frames(in: stretch.byteCount)
    let headerFrames = body.integer(at: 2, 4, bigEndian: true)
    var faults: [String] = []
    if headerFrames != frames {
      faults.append("the header said \(headerFrames ?? 0)")
    } else if layout.frames(in: declared) != frames {
      faults.append("the chunk of samples said \(layout.frames(in: declared))")
    }
    faults += stretch.faults
    let end = stretch.end + stretch.padding.count
    let size = end - stretch.foreignByteCount - 8
    guard size <= Int(UInt32.max) else {
      throw FileFailure(
        .unusableContents, "\(file.path) goes on past 4 GiB, which no AIFF file can say.",
        hint: "Take its samples with sox -t raw, and skip the first \(start) bytes.")
    }
    var plan = RepairPlan(byteCount: file.byteCount)
    if faults.isEmpty, form != size, form != size - 1 || size % 2 == 1 {
      faults.append("the header said that the file has \(form) bytes, not \(size)")
    }
    if !faults.isEmpty {
      try plan.cut(at: stretch.end, ending: stretch.padding, in: file)
      let soundSize = start + stretch.byteCount - sound.body
      try plan.set(walk.style.field(frames), at: common.body + 2, in: file)
      try plan.set(walk.style.field(soundSize), at: sound.body - 4, in: file)
      try plan.set(walk.style.field(size), at: 4, in: file)
    }
    return RepairFinding(
      path: file.path, fileFormat: .aiff, frames: frames, sampleRate: layout.sampleRate,
      headerFrames: headerFrames, faults: faults, plan: plan)
  }
}

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
