import AudioBasics

/// The channels of a device that a unit uses, if these are not all of them in their own order.
///
/// ```swift
/// precondition(ChannelSelection([1, 2], of: 2) == nil)  // the whole device
/// precondition(ChannelSelection([3, 4], of: 8)?.channels == [3, 4])
/// ```
public struct ChannelSelection: Sendable, Equatable {
  /// The highest number that a channel of a device may have.
  public static let highestNumber = 256
  /// The numbers that the channels of a device may have.
  public static let numbers = 1...highestNumber

  /// The numbers of the device's channels, from 1, in the unit's order.
  public let channels: [Int]
  /// The number of channels with which the device is opened.
  public let deviceChannelCount: Int

  /// Creates a selection of the channels `channels` of a device that is opened with
  /// `deviceChannelCount` channels. No number may exceed that count. Returns nil if the selection
  /// is the whole device in its own order.
  public init?(_ channels: [Int], of deviceChannelCount: Int) {
    requirement(
      deviceChannelCount >= 0 && channels.allSatisfy { $0 >= 1 && $0 <= deviceChannelCount },
      "A channel was selected that the device does not have.")
    guard channels != (0..<deviceChannelCount).map({ $0 + 1 }) else { return nil }
    self.channels = channels
    self.deviceChannelCount = deviceChannelCount
  }
}

/// The configuration of one direction of a device, as it was granted.
public struct StreamConfiguration: Sendable, Equatable {
  /// The ALSA name of the device.
  public var device: String
  /// The sample rate in Hz.
  public var sampleRate: Int
  /// The number of channels of the unit.
  public var channelCount: Int
  /// The selection of the device's channels; nil if these are all channels it was opened with, in
  /// order.
  public var selection: ChannelSelection?
  /// The format of a sample.
  public var format: SampleFormat
  /// The number of frames in a period, from one interrupt to the next.
  public var periodFrames: Int
  /// The number of frames that the device's buffer holds.
  public var bufferFrames: Int
  /// Whether the device is a sound server, not a card. A server's sources and sinks may have
  /// separate clocks, and move in steps as long as its quantum.
  public var isServer = false
  /// For the input of a sound server, which reports no xrun: the time in seconds in which it
  /// delivers frames that were not read in time. 0 if it drops them; nil for other inputs.
  var catchUpSeconds: Double?

  /// Creates a stream with these figures; `sampleRate` is in Hz.
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

/// The configuration of a duplex device, as it was granted. The unit and all code above it use it.
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
  /// The sample rate of the unit in Hz.
  public var sampleRate: Int
  /// The largest number of frames that a callback receives.
  public var periodFrames: Int
  /// The number of frames that are queued in the output when a callback runs.
  public var headroomFrames: Int
  /// The input; nil if there is none.
  public var capture: StreamConfiguration?
  /// The output; nil if there is none.
  public var playback: StreamConfiguration?
  /// Whether one command starts and stops both directions.
  public var isLinked = false
  /// The number of frames at the unit's rate that resampling adds between input and output; 0
  /// without resampling.
  public var resamplerDelayFrames: Double = 0
  /// Whether the device keeps time. ALSA's `null`, and file plugins that end in it, accept and
  /// deliver frames as fast as they are requested, so that their caller must keep the pace of its
  /// slowest part.
  public var keepsTime = true
  /// The clock master, if there are two clocks; otherwise nil.
  public var master: ClockMaster?
  /// The devices that play the same frames as the output.
  public var secondaryOutputs: [SecondaryOutput] = []
  /// Whether there is a resampler between unit and device.
  public var isResampling = false

  /// Creates a configuration of these streams; `sampleRate` is in Hz.
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

  /// The name of the device, or both names if they differ, for messages.
  public var deviceNames: String {
    let names = [capture?.device, playback?.device].compactMap { $0 }
    return names.count == 2 && names[0] != names[1]
      ? "\(names[0]) or \(names[1])" : names.first ?? "?"
  }

  /// Whether all of its devices are sound servers.
  public var isServer: Bool {
    (capture?.isServer ?? true) && (playback?.isServer ?? true)
  }

  /// The number of periods that the buffer of the output holds; without output, that of the input.
  public var periods: Int {
    guard let stream = playback ?? capture, stream.periodFrames > 0 else { return 0 }
    return stream.bufferFrames / stream.periodFrames
  }

  /// Returns whether only a `ResamplingDevice` can provide what `request` specifies on this device.
  public func needsResampling(for request: DuplexRequest) -> Bool {
    let rates = [capture, playback].compactMap { $0?.sampleRate }
    return rates.contains { $0 != request.sampleRate ?? sampleRate }
  }

  /// The number of frames from input to output in the unit: a period is captured, the headroom is
  /// queued, and resampling adds its delay.
  public var latencyFrames: Double {
    Double(periodFrames) + Double(headroomFrames) + resamplerDelayFrames
  }

  /// The same with the frames that are added because devices deliver in larger steps, as `drift`
  /// reports it.
  package func latencyFrames(with drift: DriftReading?) -> Double {
    latencyFrames + Double(drift?.addedFrames ?? 0)
  }

  /// The duration of a period in nanoseconds.
  package var periodNanoseconds: Double { Double(periodFrames) * 1e9 / Double(sampleRate) }

  /// Returns the duration of `frames` frames in seconds.
  package func seconds(_ frames: Int) -> Double { Double(frames) / Double(sampleRate) }
}

/// The part of a configuration that the audio thread needs. It contains only numbers and no
/// reference to count.
package struct DuplexShape: BitwiseCopyable, Sendable {
  package let hasCapture: Bool
  package let hasPlayback: Bool
  package let isLinked: Bool
  package let sampleRate: Int
  package let periodFrames: Int
  package let headroomFrames: Int
  package let captureBufferFrames: Int
  package let playbackBufferFrames: Int
  /// The period and the headroom in frames of the output, whose rate may differ.
  package let playbackAheadFrames: Int
  /// Whether both directions have the same rate and keep time, so that their fill levels can be
  /// added.
  package let canProveStart: Bool

  /// Creates the shape of `configuration`.
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
    let ahead = Double(configuration.periodFrames) + Double(configuration.headroomFrames)
    playbackAheadFrames = Int(
      rounding: ahead * Double(playbackRate) / Double(configuration.sampleRate))
  }
}

/// The one of two devices whose clock the unit uses. The frames of the other one are resampled to
/// it.
public enum ClockMaster: String, Sendable, CaseIterable {
  /// The input: a recording contains the samples of its converter bit for bit.
  case capture
  /// The output: files are played bit for bit, and no cycle is late for it.
  case playback
}
