import Duplex

/// What a recording of numbered frames holds, file after file: which frames are silent, and where
/// the numbers do not go on.
struct SoakedRecording {
  /// From this frame on the numbers are ahead of the recording's frames by so many.
  struct Lead: Equatable {
    var frame: Int
    var frames: Int
  }

  /// Frames read so far.
  private(set) var frames = 0
  /// What is silent.
  private(set) var gaps: [RecordingGap] = []
  /// Where numbers and frames part, each time by how much in all.
  private(set) var leads = [Lead(frame: 0, frames: 0)]
  /// Frames that are neither silent nor a number.
  private(set) var alteredFrames = 0
  private var lead = 0
  private var silentFrom: Int?

  /// Nothing read yet. What is found out takes no more memory later than now.
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

  /// There is no more.
  mutating func endSilence() {
    guard let first = silentFrom else { return }
    gaps.append(RecordingGap(frame: first, frames: frames - first))
    silentFrom = nil
  }

  /// The lead of the last number before `frame`.
  func lead(before frame: Int) -> Int {
    leads.last { $0.frame < frame }?.frames ?? 0
  }
}
