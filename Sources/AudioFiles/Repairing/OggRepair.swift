/// Mends Ogg Vorbis and Opus: cuts behind the last whole page on which a packet ends, and marks it as
/// the last. Pages that are lost before it are told.
struct OggRepair {
  private let file: DamagedFile
  /// Links of a chain that are complete.
  private var frames = 0
  private var lostPages = 0
  private var stream: OggStream?
  private var streamSerial: UInt32 = 0
  private var foreignStreams: Set<UInt32> = []
  /// Where the last page ends that belongs to any stream.
  private var end = 0
  /// Bytes of pages that may still turn out to be none. Each is looked at whole, and few of them
  /// overlap but by malice.
  private var damagedByteCount: Int

  init(_ file: DamagedFile) {
    self.file = file
    damagedByteCount = 1_048_576 + 4 * file.byteCount
  }

  /// What is wrong, and what becomes of it. Throws `.unusableContents` where there is neither Vorbis
  /// nor Opus, or no sound of it.
  mutating func finding() throws(FileFailure) -> RepairFinding {
    var place = 0
    while let page = try nextPage(from: place) {
      try add(page)
      place = page.end
    }
    guard let stream else { throw .noSoundFile(file.path) }
    closeLink()
    guard frames > 0 || stream.lastPage.ends else { throw .noFrames(file.path) }
    var plan = RepairPlan(byteCount: file.byteCount)
    var faults: [String] = []
    let torn = file.byteCount - end
    if torn > 0 {
      faults.append("the last \(torn) bytes were no whole page and are cut off")
      try plan.cut(at: end, in: file)
    }
    let last = stream.lastPage
    if !last.ends {
      faults.append("the last page did not say that the sound ends")
      try plan.set(last.endingHead(file), at: last.start, in: file)
    }
    if lostPages > 0 {
      let pages = lostPages == 1 ? "1 page is" : "\(lostPages) pages are"
      faults.append("\(pages) lost or damaged before the end, which cannot be mended")
    }
    return RepairFinding(
      path: file.path, fileFormat: stream.fileFormat, frames: frames,
      sampleRate: stream.sampleRate, headerFrames: nil, faults: faults, plan: plan)
  }

  private mutating func add(_ page: OggPage) throws(FileFailure) {
    if page.begins {
      guard let new = try OggStream(file, beginningWith: page) else {
        foreignStreams.insert(page.serial)
        return
      }
      closeLink()
      stream = new
      streamSerial = page.serial
      end = page.end
    } else if page.serial == streamSerial, stream != nil {
      stream?.add(page)
      if page.granule != nil { end = page.end }
    } else if foreignStreams.contains(page.serial) {
      end = max(end, page.end)
    }
  }

  private mutating func closeLink() {
    frames = min(frames + (stream?.frames ?? 0), FileBounds.frameCount)
    lostPages += stream?.lostPages ?? 0
  }

  /// The next whole page from `place` on.
  private mutating func nextPage(from place: Int) throws(FileFailure) -> OggPage? {
    var place = place
    while place + 27 <= file.byteCount {
      if try file.byte(at: place) == 0x4F {
        let before = file.lookCount
        if let page = try OggPage(file, at: place) { return page }
        damagedByteCount -= file.lookCount - before
        guard damagedByteCount >= 0 else {
          throw FileFailure(
            .unusableContents, "\(file.path) is full of torn pages, and cannot be mended.",
            hint: "Look for another copy of it.")
        }
      }
      place += 1
    }
    return nil
  }
}
