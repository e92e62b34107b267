// Audio thread.

import AudioBasics

/// The true peak of each channel of a sound.
public struct TruePeaks: ~Copyable, @unchecked Sendable {
  // @unchecked because the memory has one owner, which moves with the value.
  private let channels: UnsafeMutablePointer<TruePeak>
  private let count: Int

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

  /// Looks at `frames` frames of `channel` in `buffer` from `first` on, of which no sample's magnitude is above
  /// `bound`.
  @_noLocks
  public mutating func add(
    _ buffer: borrowing SampleBuffer, channel: Int, from first: Int, frames: Int, bound: Float
  ) {
    precondition(channel >= 0 && channel < count)
    (channels + channel).pointee.add(
      buffer, channel: channel, from: first, frames: frames, bound: bound)
  }

  /// Looks at the first `frames` frames of all channels of `buffer`, of which no sample's magnitude is above
  /// `bound`, for what is higher than the highest peak of all channels.
  @_noLocks
  mutating func raise(by buffer: borrowing SampleBuffer, frames: Int, bound: Float) {
    for channel in 0..<count {
      (channels + channel).pointee.add(
        buffer, channel: channel, from: 0, frames: frames, bound: bound, threshold: highest)
    }
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
    let peak = buffer.peak(frames: frames)
    peaks.raise(by: buffer, frames: frames, bound: peak)
    guard peak > 1 else { return }
    for frame in 0..<frames where buffer.peak(ofFrame: frame) > 1 { clippedFrames &+= 1 }
  }
}
