// Audio thread.

import AudioBasics

/// The true peaks of a sound: of each channel, or of all together.
public struct TruePeaks: ~Copyable, @unchecked Sendable {
  // @unchecked because the memory has one owner, which moves with the value.
  private let peaks: UnsafeMutablePointer<TruePeak>
  private let count: Int
  private let channelCount: Int
  /// The highest magnitude of what the filters reach back to.
  private var keptPeak: Float = 0

  /// Channels of `sampleRate` that were silent up to now, each with a peak of its own unless `isShared`.
  public init(sampleRate: Int, channelCount: Int, isShared: Bool = false) {
    self.channelCount = max(0, channelCount)
    count = isShared ? min(1, self.channelCount) : self.channelCount
    peaks = .allocate(capacity: count)
    for index in 0..<count {
      (peaks + index).initialize(
        to: TruePeak(sampleRate: sampleRate, width: isShared ? channelCount : 1))
    }
  }

  deinit {
    peaks.deinitialize(count: count)
    peaks.deallocate()
  }

  /// Looks at `frames` frames of `buffer` from `first` on. Returns the highest magnitude of the samples.
  @_noLocks @discardableResult
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int = 0, frames: Int
  ) -> Float {
    precondition(buffer.channelCount == channelCount)
    precondition(first >= 0 && frames >= 0 && first &+ frames <= buffer.frameCount)
    guard frames > 0 else { return 0 }
    var highestSample: Float = 0
    var before = keptPeak
    var frame = 0
    while frame < frames {
      let length = min(TruePeak.blockFrames, frames &- frame)
      let peak = buffer.peak(from: first &+ frame, frames: length)
      for index in 0..<count {
        (peaks + index).pointee.look(
          buffer, channel: index, at: first &+ frame, count: length, known: frame, blockPeak: peak,
          before: before)
      }
      before = peak
      highestSample = max(highestSample, peak)
      frame &+= length
    }
    keptPeak = 0
    for index in 0..<count {
      (peaks + index).pointee.keepLast(buffer, channel: index, from: first, count: frames)
      keptPeak = max(keptPeak, (peaks + index).pointee.keptPeak)
    }
    return highestSample
  }

  /// A channel's highest magnitude so far, full scale being 1. Channels together are one.
  public subscript(channel: Int) -> Float {
    @_noLocks get {
      precondition(channel >= 0 && channel < count)
      return (peaks + channel).pointee.peak
    }
  }

  /// The highest of all channels.
  public var highest: Float {
    @_noLocks get {
      var highest: Float = 0
      for index in 0..<count { highest = max(highest, (peaks + index).pointee.peak) }
      return highest
    }
  }
}

/// How far what is played goes beyond what an output can play.
public struct OutputLevels: ~Copyable, Sendable {
  private var peaks: TruePeaks
  /// Frames of which at least one sample is beyond full scale: the output clips them.
  public private(set) var clippedFrames = 0

  /// Levels of an output that has played nothing.
  public init(sampleRate: Int, channelCount: Int) {
    peaks = TruePeaks(sampleRate: sampleRate, channelCount: channelCount, isShared: true)
  }

  /// The highest true peak so far, full scale being 1.
  public var truePeak: Float {
    @_noLocks get { peaks.highest }
  }

  /// Looks at the first `frames` frames of `buffer`.
  @_noLocks
  public mutating func add(_ buffer: borrowing SampleBuffer, frames: Int) {
    guard peaks.add(buffer, frames: frames) > 1 else { return }
    for frame in 0..<frames where buffer.peak(ofFrame: frame) > 1 { clippedFrames &+= 1 }
  }
}
