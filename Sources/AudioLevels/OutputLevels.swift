// Audio thread.

import AudioBasics

/// The true peak of each channel of a sound.
public struct TruePeaks: ~Copyable, @unchecked Sendable {
  // @unchecked because the memory has one owner, which moves with the value.
  private let channels: UnsafeMutablePointer<TruePeak>
  private let count: Int
  /// The highest magnitude of what the filters reach back to.
  private var keptPeak: Float = 0

  /// Channels of `sampleRate` that were silent up to now.
  public init(sampleRate: Int, channelCount: Int) {
    count = max(0, channelCount)
    channels = .allocate(capacity: count)
    for channel in 0..<count {
      (channels + channel).initialize(to: TruePeak(sampleRate: sampleRate))
    }
  }

  deinit {
    channels.deinitialize(count: count)
    channels.deallocate()
  }

  /// Looks at `frames` frames of `buffer` from `first` on, for each channel's peak; where `isShared`, only for
  /// what is higher than the highest of all channels. Returns the highest magnitude of the samples.
  @_noLocks @discardableResult
  public mutating func add(
    _ buffer: borrowing SampleBuffer, from first: Int = 0, frames: Int, isShared: Bool = false
  ) -> Float {
    precondition(buffer.channelCount == count)
    precondition(first >= 0 && frames >= 0 && first &+ frames <= buffer.frameCount)
    guard frames > 0 else { return 0 }
    var highestSample: Float = 0
    var before = keptPeak
    var frame = 0
    while frame < frames {
      let length = min(TruePeak.blockFrames, frames &- frame)
      let peak = buffer.peak(from: first &+ frame, frames: length)
      let bound = max(peak, before)
      for channel in 0..<count {
        (channels + channel).pointee.look(
          buffer, channel: channel, at: first &+ frame, count: length, known: frame, bound: bound,
          threshold: isShared ? highest : 0)
      }
      before = peak
      highestSample = max(highestSample, peak)
      frame &+= length
    }
    keptPeak = 0
    for channel in 0..<count {
      (channels + channel).pointee.keepLast(buffer, channel: channel, from: first, count: frames)
      keptPeak = max(keptPeak, (channels + channel).pointee.keptPeak)
    }
    return highestSample
  }

  /// A channel's highest magnitude so far, full scale being 1.
  public subscript(channel: Int) -> Float {
    @_noLocks get {
      precondition(channel >= 0 && channel < count)
      return (channels + channel).pointee.peak
    }
  }

  /// The highest of all channels.
  public var highest: Float {
    @_noLocks get {
      var highest: Float = 0
      for channel in 0..<count {
        let peak = (channels + channel).pointee.peak
        highest = peak > highest ? peak : highest
      }
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
    peaks = TruePeaks(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// The highest true peak so far, full scale being 1.
  public var truePeak: Float {
    @_noLocks get { peaks.highest }
  }

  /// Looks at the first `frames` frames of `buffer`.
  @_noLocks
  public mutating func add(_ buffer: borrowing SampleBuffer, frames: Int) {
    guard peaks.add(buffer, frames: frames, isShared: true) > 1 else { return }
    for frame in 0..<frames where buffer.peak(ofFrame: frame) > 1 { clippedFrames &+= 1 }
  }
}
