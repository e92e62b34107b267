/// Mends FLAC: cuts behind the last frame whose checksum is right, and makes the head say how many
/// samples there are. A damaged frame in the middle is told, and left where it is.
struct FLACRepair {
  private let file: DamagedFile
  /// Where `fLaC` stands.
  private let start: Int

  init(_ file: DamagedFile, at start: Int) {
    self.file = file
    self.start = start
  }

  /// What is wrong, and what becomes of it. Throws `.unusableContents` where the head is of no use,
  /// or no frame is whole.
  func finding() throws(FileFailure) -> RepairFinding {
    let body = start + 8
    guard
      let information = try FLACInformation(
        file.bytes(at: body, count: FLACInformation.byteCount)),
      try file.bytes(at: start + 4, count: 1).first.map({ $0 & 0x7F }) == 0
    else { throw .lost("head", of: "FLAC", file.path) }
    let audio = try endOfMetadata()
    var walk = FLACWalk(file, from: audio, information)
    try walk.run()
    guard walk.end > audio || (audio == file.byteCount && information.frames == 0) else {
      throw .noFrames(file.path)
    }
    var plan = RepairPlan(byteCount: file.byteCount)
    var faults: [String] = []
    if information.frames == 0, walk.frames > 0 {
      faults.append("the header left the length open")
    } else if information.frames != walk.frames {
      faults.append("the header said \(information.frames)")
    }
    let torn = file.byteCount - walk.end
    let isTag = try file.bytes(at: walk.end, count: 3) == Array("TAG".utf8) && torn == 128
    if torn > 0, !isTag {
      faults.append("the last \(torn) bytes were no whole frame and are cut off")
      try plan.cut(at: walk.end, in: file)
    }
    // What the digest was made of is another sound now, but for litter behind it; without a length it
    // was never finished.
    let isDigestRight =
      plan.isEmpty && information.frames == 0 || information.frames == walk.frames
    if !isDigestRight {
      let place = body + FLACInformation.digestOffset
      try plan.set([UInt8](repeating: 0, count: 16), at: place, in: file)
    }
    if !faults.isEmpty {
      let place = body + FLACInformation.packedOffset
      try plan.set(information.packed(frames: walk.frames), at: place, in: file)
    }
    if walk.damagedStretches > 0 {
      let places = walk.damagedStretches == 1 ? "one place" : "\(walk.damagedStretches) places"
      faults.append("it is damaged in \(places) before its end, which cannot be mended")
    }
    return RepairFinding(
      path: file.path, fileFormat: .flac, frames: walk.frames, sampleRate: information.sampleRate,
      headerFrames: information.frames, faults: faults, plan: plan)
  }

  /// Where the first frame should begin.
  private func endOfMetadata() throws(FileFailure) -> Int {
    var place = start + 4
    while true {
      let head = try file.bytes(at: place, count: 4)
      guard let kind = head.first, let size = head.integer(at: 1, 3, bigEndian: true),
        size <= file.byteCount - place - 4
      else { throw .noFrames(file.path) }
      place += 4 + size
      if kind & 0x80 != 0 { return place }
    }
  }
}
