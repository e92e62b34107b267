import AudioBasics

/// Which channels of a device a unit uses, where these are not all of them in their own order.
///
/// ```swift
/// precondition(ChannelSelection([1, 2], of: 2) == nil)  // the whole device
/// precondition(ChannelSelection([3, 4], of: 8)?.channels == [3, 4])
/// ```
public struct ChannelSelection: Sendable, Equatable {
  /// The highest number that a channel of a device may have.
  public static let highestNumber = 256

  /// The numbers of the channels at the device, from 1, in the unit's order.
  public let channels: [Int]
  /// Channels with which the device is opened.
  public let deviceChannelCount: Int

  /// `channels` of a device that is opened with `deviceChannelCount`, each of them at most that.
  /// Nil where that is the whole device as it is.
  public init?(_ channels: [Int], of deviceChannelCount: Int) {
    requirement(
      deviceChannelCount >= 0 && channels.allSatisfy { $0 >= 1 && $0 <= deviceChannelCount },
      "A channel was selected that the device does not have.")
    guard channels != (0..<deviceChannelCount).map({ $0 + 1 }) else { return nil }
    self.channels = channels
    self.deviceChannelCount = deviceChannelCount
  }
}

/// One direction of a device as it was granted.
public struct StreamConfiguration: Sendable, Equatable {
  /// The ALSA name.
  public var device: String
  /// Frames a second.
  public var sampleRate: Int
  /// Samples in a frame of the unit.
  public var channelCount: Int
  /// Which of the device's channels these are; nil where they are all it was opened with, in order.
  public var selection: ChannelSelection?
  /// How a sample is kept.
  public var format: SampleFormat
  /// Frames from one interrupt to the next.
  public var periodFrames: Int
  /// Frames the device's buffer holds.
  public var bufferFrames: Int
  /// Whether a sound server is behind it, and no card of its own. A server's sources and sinks may
  /// have clocks of their own, and move in steps as long as its quantum.
  public var isServer = false

  /// A stream with these figures: `sampleRate` frames a second.
  public init(
    device: String, sampleRate: Int, channelCount: Int, format: SampleFormat, periodFrames: Int,
    bufferFrames: Int
  ) {
    self.device = device
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.format = format
    self.periodFrames = periodFrames
    self.bufferFrames = bufferFrames
  }
}

/// A duplex device as it was granted: what the unit and everything above it builds on.
///
/// ```swift
/// var selection = DeviceSelection(device: "sim:clock=free")
/// selection.request.periodFrames = 64
/// selection.request.headroomFrames = 32
/// let granted = try OpenDevice(opening: selection).configuration
/// precondition(granted.periodFrames == 64 && granted.latencyFrames == 96)
/// let milliseconds = granted.latencyFrames / Double(granted.sampleRate) * 1000
/// precondition(milliseconds == 2)
/// ```
public struct DuplexConfiguration: Sendable, Equatable {
  /// Frames a second of the unit.
  public var sampleRate: Int
  /// Most frames a callback gets.
  public var periodFrames: Int
  /// Frames queued ahead of the output when a callback runs.
  public var headroomFrames: Int
  /// The input, where there is one.
  public var capture: StreamConfiguration?
  /// The output, where there is one.
  public var playback: StreamConfiguration?
  /// Whether one command starts and stops both directions.
  public var isLinked = false
  /// Frames at the unit's rate that resampling adds between input and output. 0 without.
  public var resamplerDelayFrames: Double = 0
  /// Whether the device keeps time. ALSA's `null` and files behind it take and give frames as fast
  /// as they are asked, so their caller must keep the pace of its own slowest part.
  public var keepsTime = true
  /// Which of two clocks gives the time, where there are two.
  public var master: ClockMaster?
  /// Devices that play the same as the output.
  public var secondaryOutputs: [SecondaryOutput] = []
  /// Whether a resampler stands between unit and device.
  public var isResampling = false

  /// A configuration of these streams.
  public init(
    sampleRate: Int, periodFrames: Int, headroomFrames: Int, capture: StreamConfiguration?,
    playback: StreamConfiguration?
  ) {
    self.sampleRate = sampleRate
    self.periodFrames = periodFrames
    self.headroomFrames = headroomFrames
    self.capture = capture
    self.playback = playback
  }

  /// The device's name, or both where they differ, for sentences.
  public var deviceNames: String {
    let names = [capture?.device, playback?.device].compactMap { $0 }
    return names.count == 2 && names[0] != names[1]
      ? "\(names[0]) or \(names[1])" : names.first ?? "?"
  }

  /// Whether sound servers are all there is behind it.
  public var isServer: Bool {
    (capture?.isServer ?? true) && (playback?.isServer ?? true)
  }

  /// Periods the output's buffer (or a lone input's) holds.
  public var periods: Int {
    guard let stream = playback ?? capture, stream.periodFrames > 0 else { return 0 }
    return stream.bufferFrames / stream.periodFrames
  }

  /// Whether only a `ResamplingDevice` can make this device what `request` asks for.
  public func needsResampling(for request: DuplexRequest) -> Bool {
    let rates = [capture, playback].compactMap { $0?.sampleRate }
    return rates.contains { $0 != request.sampleRate ?? sampleRate }
  }

  /// Frames from input to output as the unit keeps it: a period is gathered, the headroom is
  /// queued, and resampling adds its own.
  public var latencyFrames: Double {
    Double(periodFrames + headroomFrames) + resamplerDelayFrames
  }
}

/// The part of a configuration that the audio thread needs: numbers only, nothing to count
/// references of.
package struct DuplexShape: BitwiseCopyable, Sendable {
  package let hasCapture: Bool
  package let hasPlayback: Bool
  package let isLinked: Bool
  package let sampleRate: Int
  package let periodFrames: Int
  package let headroomFrames: Int
  package let captureBufferFrames: Int
  package let playbackBufferFrames: Int
  /// The period and the headroom in frames of the output, whose rate may be another.
  package let playbackAheadFrames: Int
  /// Whether both directions have one rate and a clock, so that their fills can be added.
  package let canProveStart: Bool

  /// That part of `configuration`.
  package init(_ configuration: DuplexConfiguration) {
    hasCapture = configuration.capture != nil
    hasPlayback = configuration.playback != nil
    isLinked = configuration.isLinked
    sampleRate = configuration.sampleRate
    periodFrames = configuration.periodFrames
    headroomFrames = configuration.headroomFrames
    captureBufferFrames = configuration.capture?.bufferFrames ?? 0
    playbackBufferFrames = configuration.playback?.bufferFrames ?? 0
    let playbackRate = configuration.playback?.sampleRate ?? configuration.sampleRate
    canProveStart =
      hasCapture && hasPlayback && configuration.keepsTime
      && playbackRate == configuration.sampleRate
    let ahead = Double(configuration.periodFrames + configuration.headroomFrames)
    playbackAheadFrames = Int(
      rounding: ahead * Double(playbackRate) / Double(configuration.sampleRate))
  }
}

/// Which of two devices gives the time. The frames of the other one are resampled to it.
public enum ClockMaster: String, Sendable, CaseIterable {
  /// The input: what is recorded is what its converter delivered, to the bit.
  case capture
  /// The output: what is played of files is what they hold, to the bit, and no cycle is late for
  /// it.
  case playback
}
