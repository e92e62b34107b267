import Duplex

/// The contents of a recording of numbered frames, file after file: the silent frames, and the
/// positions at which the numbers are not consecutive.
struct SoakedRecording {
  /// A change of the offset: from `frame` on, the numbers are ahead of the recording's frames by
  /// `frames`.
  struct Lead: Equatable {
    var frame: Int
    var frames: Int
  }

  /// The number of frames read so far.
  private(set) var frames = 0
  /// The silent ranges.
  private(set) var gaps: [RecordingGap] = []
  /// The positions at which the offset between numbers and frames changes, each with the total
  /// offset.
  private(set) var leads = [Lead(frame: 0, frames: 0)]
  /// The number of frames that are neither silent nor encode a number.
  private(set) var alteredFrames = 0
  private var lead = 0
  private var silentFrom: Int?

  /// Creates an empty record. It reserves memory for the results, so that no more is allocated
  /// later.
  init() {
    gaps.reserveCapacity(16_384)
    leads.reserveCapacity(16_384)
  }

  /// Reads the next file.
  mutating func read(_ path: String) throws(FileFailure) {
    var file = try SoundFileReader(path: path)
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 2)
    while true {
      let count = try file.read(into: &buffer)
      guard count > 0 else { return }
      for index in 0..<count { take(buffer[2 * index], buffer[2 * index + 1]) }
    }
  }

  private mutating func take(_ left: Float, _ right: Float) {
    defer { frames += 1 }
    if left == 0, right == 0 {
      if silentFrom == nil { silentFrom = frames }
      return
    }
    endSilence()
    guard let number = SoakSounds.number(left, right) else {
      alteredFrames += 1
      return
    }
    let found = (number - frames) & (SoakSounds.numberCount - 1)
    guard found != lead else { return }
    lead = found
    leads.append(Lead(frame: frames, frames: found))
  }

  /// Ends the current silent range, also after the last file.
  mutating func endSilence() {
    guard let first = silentFrom else { return }
    gaps.append(RecordingGap(frame: first, frames: frames - first))
    silentFrom = nil
  }

  /// Returns the offset of the last number before `frame`.
  func lead(before frame: Int) -> Int {
    leads.last { $0.frame < frame }?.frames ?? 0
  }
}
