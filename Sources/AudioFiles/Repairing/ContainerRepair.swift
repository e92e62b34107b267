/// A repair of WAV and RF64: the sizes of the samples, of the file, and in the `ds64` and `fact`
/// chunks.
///
/// After EBU Tech 3306 (RF64) and Microsoft's multimedia data standards update of 1994.
struct WaveRepair {
  private let file: DamagedFile
  private let container: SoundContainer
  private let long: Chunk?
  private let fact: Chunk?
  /// Room reserved for a `ds64` chunk.
  private let room: Chunk?
  private let chunks: [String: Chunk]
  /// Whether the beginning of the file, up to its first remaining chunk, became zeros.
  private let isBeginningLost: Bool
  /// The offset of the first chunk.
  private static let first = 12

  /// Reads the chunks before the samples. `container` is WAV, RF64 or BW64.
  init(_ file: DamagedFile, _ container: SoundContainer) throws(FileFailure) {
    let chunks = try file.walk(.wave).chunks(from: Self.first, upTo: ["data"])
    self.init(file, chunks, container, isBeginningLost: false)
  }

  /// Reads the chunks if everything before the first remaining chunk became zeros; a `JUNK` chunk
  /// will replace the lost ones. nil if the chunks after `zeros` zeros do not lead to the samples.
  init?(_ file: DamagedFile, zeros: Int) throws(FileFailure) {
    let lost = zeros - Self.first
    guard lost == 0 || lost >= Self.fillerHeadByteCount, lost % 2 == 0 else { return nil }
    var chunks = try file.walk(.wave).chunks(from: zeros, upTo: ["data"])
    guard chunks["fmt "] != nil, chunks["data"] != nil else { return nil }
    if lost > 0 {
      let body = Self.first + Self.fillerHeadByteCount
      chunks["JUNK"] = Chunk(
        identifier: "JUNK", start: Self.first, body: body, size: zeros - body)
    }
    self.init(file, chunks, chunks["ds64"] != nil ? .rf64 : .riff, isBeginningLost: true)
  }

  private static let fillerHeadByteCount = 8

  private init(
    _ file: DamagedFile, _ chunks: [String: Chunk], _ container: SoundContainer,
    isBeginningLost: Bool
  ) {
    self.file = file
    self.chunks = chunks
    self.container = container
    self.isBeginningLost = isBeginningLost
    long = chunks["ds64"].flatMap { $0.size >= 24 ? $0 : nil }
    fact = chunks["fact"].flatMap { $0.size >= 4 ? $0 : nil }
    room = chunks["JUNK"].flatMap {
      $0.start == Self.first && ($0.size == 28 || $0.size >= 36) ? $0 : nil
    }
  }

  /// Returns the faults and the plan of the repair. Throws `.unusableContents` if the chunks do not
  /// lead to the samples.
  func finding() throws(FileFailure) -> RepairFinding {
    let (layout, data) = try file.layout(in: chunks, of: "WAV")
    let form = try declaredFormByteCount()
    var samples = try FoundSamples(
      file, .wave, layout, from: data.body, declared: declaredByteCount(data), formEnd: form + 8)
    if isBeginningLost { samples.faults.insert("the beginning of the header was lost", at: 0) }
    let size = samples.end - 8
    // Some programs count the pad byte, and some do not.
    samples.check(form, size, isRight: form == size || (form == size - 1 && size % 2 == 0))
    let exceedsFormat = container == .riff && size >= Int(UInt32.max)
    if exceedsFormat {
      samples.faults.append("the file has outgrown WAV's 4 GiB and becomes RF64")
    }
    let isLong = container != .riff || exceedsFormat
    let sizes = Sizes(form: size, data: samples.stretch.byteCount, frames: samples.frames)
    return try samples.finding(isLong ? .rf64 : .wav) { plan throws(FileFailure) in
      if let fact {
        try plan.set(short(isLong ? Int(UInt32.max) : sizes.frames), at: fact.body, in: file)
      }
      try plan.set(short(isLong ? Int(UInt32.max) : sizes.data), at: data.body - 4, in: file)
      if isLong {
        try setLong(sizes, &plan)
      } else {
        try plan.set(
          name(.riff) + short(sizes.form) + Array("WAVE".utf8), at: 0, in: file)
      }
      if isBeginningLost, let filler = chunks["JUNK"], filler.start == Self.first,
        !isLong || long != nil || room == nil
      {
        try plan.set(Array("JUNK".utf8) + short(filler.size), at: filler.start, in: file)
      }
    }
  }

  private struct Sizes {
    let form: Int
    let data: Int
    let frames: Int
  }

  /// Returns the size of the samples in the header; nil if the header leaves it open.
  private func declaredByteCount(_ data: Chunk) throws(FileFailure) -> Int? {
    guard data.size == Int(UInt32.max) else { return data.size }
    return try longNumber(8)
  }

  private func declaredFormByteCount() throws(FileFailure) -> Int {
    let short = try file.bytes(at: 4, count: 4).integer(at: 0, 4, bigEndian: false) ?? 0
    return try longNumber(0) ?? short
  }

  private func longNumber(_ offset: Int) throws(FileFailure) -> Int? {
    guard container != .riff, let long,
      let number = try file.bytes(at: long.body + offset, count: 8)
        .number(at: 0, 8, bigEndian: false), number <= FileBounds.byteCount
    else { return nil }
    return Int(number)
  }

  /// Writes the sizes of RF64 or BW64 into the existing `ds64` chunk, into the room reserved for
  /// one, or before the first chunk.
  private func setLong(_ sizes: Sizes, _ plan: inout RepairPlan) throws(FileFailure) {
    let numbers = { (form: Int) in
      [form, sizes.data, sizes.frames].flatMap { [UInt8]($0, 8, bigEndian: false) }
    }
    var head =
      name(container == .riff ? .rf64 : container) + short(Int(UInt32.max)) + Array("WAVE".utf8)
    if let long {
      try plan.set(numbers(sizes.form), at: long.body, in: file)
    } else if let room {
      head += Array("ds64".utf8) + short(28) + numbers(sizes.form) + short(0)
      if room.size >= 36 { head += Array("JUNK".utf8) + short(room.size - 36) }
    } else {
      plan.insert(
        Array("ds64".utf8) + short(28) + numbers(sizes.form + 36) + short(0), at: Self.first)
    }
    try plan.set(head, at: 0, in: file)
  }

  private func short(_ number: Int) -> [UInt8] { [UInt8](number, 4, bigEndian: false) }

  private func name(_ container: SoundContainer) -> [UInt8] { Array(container.identifier.utf8) }
}

/// A repair of Sony's Wave64: chunks with 16-byte names, at multiples of eight bytes, with 64-bit
/// sizes that include the header of the chunk.
struct Wave64Repair {
  let file: DamagedFile

  /// Returns the faults and the plan of the repair. Throws `.unusableContents` if the chunks do not
  /// lead to the samples.
  func finding() throws(FileFailure) -> RepairFinding {
    let style = ChunkStyle.wave64
    let chunks = try file.walk(style).chunks(from: 40, upTo: ["data"])
    let (layout, data) = try file.layout(in: chunks, of: "Wave64")
    let bits = try file.bytes(at: 16, count: 8).number(at: 0, 8, bigEndian: false) ?? 0
    let form = Int(min(bits, UInt64(FileBounds.byteCount)))
    // A program that has not counted yet writes the size of a header alone, or less.
    var samples = try FoundSamples(
      file, style, layout, from: data.body, declared: max(0, data.size), formEnd: form)
    let (end, frames, byteCount) = (samples.end, samples.frames, samples.stretch.byteCount)
    // The last chunk may be padded or not, and its padding may be counted or not.
    samples.check(form, end, isRight: abs(form - end) <= 7)
    return try samples.finding(.w64) { plan throws(FileFailure) in
      if let fact = chunks["fact"], fact.size >= 8 {
        try plan.set(style.field(frames), at: fact.body, in: file)
      }
      try plan.set(style.field(byteCount + style.headByteCount), at: data.body - 8, in: file)
      try plan.set(style.field(end), at: 16, in: file)
    }
  }
}

/// A repair of Apple's AIFF and AIFF-C: the number of frames in the common chunk, the size of the
/// sample chunk, and the size of the file.
struct AIFFRepair {
  let file: DamagedFile
  /// Two numbers precede the samples, for writers that align samples to blocks.
  private static let alignmentByteCount = 8

  /// Returns the faults and the plan of the repair. Throws `.unusableContents` if the chunks do not
  /// lead to the samples, or if the file is longer than AIFF can state.
  func finding() throws(FileFailure) -> RepairFinding {
    let style = ChunkStyle.aiff
    let isCompressed = try file.bytes(at: 8, count: 4).identifier(at: 0) == "AIFC"
    let chunks = try file.walk(style).chunks(from: 12, upTo: ["COMM", "SSND"])
    guard let chunk = chunks["COMM"] else { throw .lost("common chunk", of: "AIFF", file.path) }
    let fieldsByteCount = AIFFCommonChunk.byteCount(isCompressed: isCompressed)
    let common = try AIFFCommonChunk(
      file.bytes(at: chunk.body, count: fieldsByteCount), isCompressed: isCompressed)
    guard let common else { throw .unknownSamples(file.path) }
    guard let sound = chunks["SSND"],
      let offset = try file.bytes(at: sound.body, count: 4).integer(at: 0, 4, bigEndian: true),
      offset % 2 == 0, offset <= file.byteCount - sound.body - Self.alignmentByteCount
    else { throw .lost("samples", of: "AIFF", file.path) }
    let start = sound.body + Self.alignmentByteCount + offset
    let form = try file.bytes(at: 4, count: 4).integer(at: 0, 4, bigEndian: true) ?? 0
    var samples = try FoundSamples(
      file, style, SampleLayout(common), from: start,
      declared: max(0, sound.size - Self.alignmentByteCount - offset), formEnd: form + 8,
      headerFrames: common.frames)
    // A damaged common chunk behind the samples is cut off with the other data there.
    guard samples.faults.isEmpty || chunk.body + fieldsByteCount <= samples.stretch.end else {
      throw .lost("common chunk", of: "AIFF", file.path)
    }
    let size = samples.end - 8
    guard size <= Int(UInt32.max) else {
      throw FileFailure(
        .unusableContents, "\(file.path) is longer than 4 GiB, the most an AIFF header can state.",
        hint: "Take its samples with sox -t raw, and skip the first \(start) bytes.")
    }
    samples.check(form, size, isRight: form == size || (form == size - 1 && size % 2 == 0))
    let (frames, soundSize) = (samples.frames, start + samples.stretch.byteCount - sound.body)
    return try samples.finding(.aiff) { plan throws(FileFailure) in
      try plan.set(style.field(frames), at: chunk.body + 2, in: file)
      try plan.set(style.field(soundSize), at: sound.body - 4, in: file)
      try plan.set(style.field(size), at: 4, in: file)
    }
  }
}

/// A repair of Apple's CAF: the size of its data chunk, the only one that depends on the length,
/// and the version of its header.
struct CoreAudioRepair {
  let file: DamagedFile
  /// The samples follow a number that counts edits.
  private static let editCountByteCount = 4
  /// Version 1 without flags (Apple Core Audio Format Specification 1.0, CAFFileHeader).
  private static let version: [UInt8] = [0, 1, 0, 0]

  /// Returns the faults and the plan of the repair. Throws `.unusableContents` if the chunks do not
  /// lead to the samples.
  func finding() throws(FileFailure) -> RepairFinding {
    let style = ChunkStyle.coreAudio
    let chunks = try file.walk(style).chunks(from: 8, upTo: ["data"])
    guard let chunk = chunks["desc"] else { throw .lost("description", of: "CAF", file.path) }
    let description = try CoreAudioDescription(
      file.bytes(at: chunk.body, count: CoreAudioDescription.byteCount))
    guard let layout = description.flatMap(SampleLayout.init) else {
      throw .unknownSamples(file.path)
    }
    guard let data = chunks["data"], data.body + Self.editCountByteCount <= file.byteCount else {
      throw .lost("samples", of: "CAF", file.path)
    }
    var samples = try FoundSamples(
      file, style, layout, from: data.body + Self.editCountByteCount,
      declared: data.size == -1
        ? nil : max(Self.editCountByteCount, data.size) - Self.editCountByteCount,
      formEnd: -1)
    let size = samples.stretch.byteCount + Self.editCountByteCount
    samples.check(data.size, size, isRight: data.size == size, of: "the samples have")
    if try file.bytes(at: 4, count: 4) != Self.version {
      samples.faults.append("the header does not have version 1")
    }
    return try samples.finding(.caf) { plan throws(FileFailure) in
      try plan.set(Self.version, at: 4, in: file)
      try plan.set(style.field(size), at: data.body - 8, in: file)
    }
  }
}

extension DamagedFile {
  fileprivate func walk(_ style: ChunkStyle) -> ChunkWalk {
    ChunkWalk(file: self, byteCount: byteCount, style: style)
  }

  /// Returns the layout of the samples from the chunks of WAV or Wave64, and the chunk that
  /// contains them.
  fileprivate func layout(
    in chunks: [String: Chunk], of kind: String
  ) throws(FileFailure) -> (SampleLayout, data: Chunk) {
    guard let format = chunks["fmt "] else { throw .lost("format chunk", of: kind, path) }
    let body = try bytes(at: format.body, count: max(0, min(format.size, 64)))
    guard let layout = WaveFormatChunk(body).flatMap(SampleLayout.init) else {
      throw .unknownSamples(path)
    }
    guard let data = chunks["data"] else { throw .lost("samples", of: kind, path) }
    return (layout, data)
  }
}

/// Findings of a repair about the samples of a file of chunks.
private struct FoundSamples {
  private let file: DamagedFile
  private let layout: SampleLayout
  /// The number of frames in the header; nil if it leaves that open.
  private let headerFrames: Int?
  let stretch: SampleStretch
  let frames: Int
  var faults: [String] = []

  /// Examines the samples from `start` on: `declared` bytes according to the header of their chunk,
  /// and `headerFrames` frames if another chunk contains that number.
  init(
    _ file: DamagedFile, _ style: ChunkStyle, _ layout: SampleLayout, from start: Int,
    declared: Int?, formEnd: Int, headerFrames: Int? = nil
  ) throws(FileFailure) {
    self.file = file
    self.layout = layout
    stretch = try SampleStretch(
      file.walk(style), start: start, declared: declared, frameByteCount: layout.blockByteCount,
      formEnd: formEnd)
    frames = layout.frames(in: stretch.byteCount)
    // A block longer than all the samples is damage of the header, and not a torn end.
    guard frames > 0 || layout.blockFrames == 1 || stretch.faults.isEmpty else {
      throw .noFrames(file.path)
    }
    let declaredFrames = declared.map { layout.frames(in: $0) }
    self.headerFrames = headerFrames ?? declaredFrames
    if let stated = self.headerFrames, stated != frames {
      faults.append("the header said \(stated)")
    } else if let declaredFrames, declaredFrames != frames {
      faults.append("the chunk of samples said \(declaredFrames)")
    } else if declaredFrames == nil {
      faults.append("the header left the length open")
    }
    faults += stretch.faults
  }

  /// The offset at which the last chunk ends.
  var end: Int { stretch.end + stretch.padding.count - stretch.foreignByteCount }

  /// Adds a fault if a length in the header is wrong and nothing else is.
  mutating func check(
    _ stated: Int, _ byteCount: Int, isRight: Bool, of what: String = "the file has"
  ) {
    guard faults.isEmpty, !isRight else { return }
    faults.append("the header said that \(what) \(stated) bytes, not \(byteCount)")
  }

  /// Cuts off the data after the samples, and lets `set` correct the header, if there are faults.
  func finding(
    _ fileFormat: FileFormat, _ set: (inout RepairPlan) throws(FileFailure) -> Void
  ) throws(FileFailure) -> RepairFinding {
    var plan = RepairPlan(byteCount: file.byteCount)
    if !faults.isEmpty {
      try plan.cut(at: stretch.end, ending: stretch.padding, in: file)
      try set(&plan)
    }
    return RepairFinding(
      path: file.path, fileFormat: fileFormat, frames: frames, sampleRate: layout.sampleRate,
      headerFrames: headerFrames, faults: faults, plan: plan)
  }
}
