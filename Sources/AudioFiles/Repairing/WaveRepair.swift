/// Mends WAV and RF64: the sizes of the samples, of the whole, and of the `ds64` and `fact` chunks.
///
/// After EBU Tech 3306 (RF64) and Microsoft's multimedia data standards update of 1994.
struct WaveRepair {
  private let file: DamagedFile
  private let walk: ChunkWalk
  private let isLong: Bool
  private var format: Chunk?
  private var layout: SampleLayout?
  private var long: Chunk?
  private var fact: Chunk?
  /// Room kept for a `ds64` chunk.
  private var room: Chunk?
  private var data: Chunk?

  /// Reads the chunks before the samples. Throws `.unusableContents` where they do not lead there.
  init(_ file: DamagedFile) throws(FileFailure) {
    self.file = file
    walk = ChunkWalk(file: file, style: .wave)
    isLong = try file.bytes(at: 0, count: 4).identifier(at: 0) != "RIFF"
    var place = 12
    while data == nil, let chunk = try walk.chunk(at: place) {
      switch chunk.identifier {
      case "fmt ":
        format = chunk
        layout = try SampleLayout(
          waveFormat: file.bytes(at: chunk.body, count: min(chunk.size, 64)))
      case "ds64" where chunk.size >= 24: long = chunk
      case "JUNK" where place == 12 && (chunk.size == 28 || chunk.size >= 36): room = chunk
      case "fact" where chunk.size >= 4: fact = chunk
      case "data": data = chunk
      default: break
      }
      guard let next = walk.next(after: chunk) else { break }
      place = next
    }
  }

  /// What is wrong, and what becomes of it.
  func finding() throws(FileFailure) -> RepairFinding {
    guard format != nil else { throw .lost("format chunk", of: "WAV", file.path) }
    guard let layout else { throw .unknownSamples(file.path) }
    guard let data else { throw .lost("samples", of: "WAV", file.path) }
    let declared = try declaredByteCount(data)
    let form = try declaredFormByteCount()
    let stretch = try SampleStretch(
      walk, start: data.body, declared: declared, frameByteCount: layout.blockByteCount,
      formEnd: form + 8)
    var plan = RepairPlan(byteCount: file.byteCount)
    var faults: [String] = []
    let frames = layout.frames(in: stretch.byteCount)
    let headerFrames = declared.map { layout.frames(in: $0) }
    if headerFrames == nil {
      faults.append("the header left the length open")
    } else if headerFrames != frames {
      faults.append("the header said \(headerFrames ?? 0)")
    }
    faults += stretch.faults
    let end = stretch.end + stretch.padding.count
    let size = end - stretch.foreignByteCount - 8
    // Some count the byte of padding, and some do not.
    let isFormRight = form == size || (form == size - 1 && size % 2 == 0 && faults.isEmpty)
    if faults.isEmpty, !isFormRight {
      faults.append("the header said that the file has \(form) bytes, not \(size)")
    }
    let isOutgrown = !isLong && size >= Int(UInt32.max)
    if isOutgrown { faults.append("the file has outgrown WAV's 4 GiB and becomes RF64") }
    if !faults.isEmpty {
      try plan.cut(at: stretch.end, ending: stretch.padding, in: file)
      let sizes = Sizes(form: size, data: stretch.byteCount, frames: frames)
      if isLong || isOutgrown {
        try setLong(sizes, data, &plan)
      } else {
        try setShort(sizes, data, &plan)
      }
    }
    return RepairFinding(
      path: file.path, fileFormat: isLong || isOutgrown ? .rf64 : .wav, frames: frames,
      sampleRate: layout.sampleRate, headerFrames: headerFrames, faults: faults, plan: plan)
  }

  private struct Sizes {
    let form: Int
    let data: Int
    let frames: Int
  }

  /// Nil where the header leaves it open.
  private func declaredByteCount(_ data: Chunk) throws(FileFailure) -> Int? {
    guard data.size == Int(UInt32.max) else { return data.size }
    guard isLong, let long else { return nil }
    return try longNumber(long, 8)
  }

  private func declaredFormByteCount() throws(FileFailure) -> Int {
    let short = try file.bytes(at: 4, count: 4).integer(at: 0, 4, bigEndian: false) ?? 0
    guard isLong, let long else { return short }
    return try longNumber(long, 0) ?? short
  }

  private func longNumber(_ long: Chunk, _ offset: Int) throws(FileFailure) -> Int? {
    let bytes = try file.bytes(at: long.body + offset, count: 8)
    guard let number = bytes.number(at: 0, 8, bigEndian: false), number <= FileBounds.byteCount
    else {
      return nil
    }
    return Int(number)
  }

  private func setShort(_ sizes: Sizes, _ data: Chunk, _ plan: inout RepairPlan)
    throws(FileFailure)
  {
    if let fact, fact.start < data.start {
      try plan.set(short(sizes.frames), at: fact.body, in: file)
    }
    try plan.set(short(sizes.data), at: data.body - 4, in: file)
    try plan.set(short(sizes.form), at: 4, in: file)
  }

  /// The sizes of RF64, in the chunk that is there, in the room kept for it, or in front of all.
  private func setLong(_ sizes: Sizes, _ data: Chunk, _ plan: inout RepairPlan)
    throws(FileFailure)
  {
    if let fact, fact.start < data.start {
      try plan.set(short(Int(UInt32.max)), at: fact.body, in: file)
    }
    try plan.set(short(Int(UInt32.max)), at: data.body - 4, in: file)
    let numbers = { (form: Int) in
      [form, sizes.data, sizes.frames].flatMap { [UInt8]($0, 8, bigEndian: false) }
    }
    var head = Array("RF64".utf8) + short(Int(UInt32.max)) + Array("WAVE".utf8)
    if let long {
      try plan.set(numbers(sizes.form), at: long.body, in: file)
      try plan.set(head, at: 0, in: file)
    } else if let room {
      head += Array("ds64".utf8) + short(28) + numbers(sizes.form) + short(0)
      if room.size >= 36 { head += Array("JUNK".utf8) + short(room.size - 36) }
      try plan.set(head, at: 0, in: file)
    } else {
      try plan.set(head, at: 0, in: file)
      plan.insert(
        Array("ds64".utf8) + short(28) + numbers(sizes.form + 36) + short(0), at: 12)
    }
  }

  private func short(_ number: Int) -> [UInt8] { [UInt8](number, 4, bigEndian: false) }
}

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
