import ArgumentParser
import AudioBasics
import AudioDevices
import RealtimeAudio
import SimulatedDevices

extension ClockMaster: ExpressibleByArgument {}

/// The priority of the audio thread: a number, or `off`.
extension ThreadPriority: ExpressibleByArgument {
  /// The priorities of realtime threads.
  static let realtimeNumbers = 1...99

  /// Parses a priority: one of `realtimeNumbers`, or `off`; nil for anything else.
  public init?(argument: String) {
    if argument == "off" {
      self = .normal
    } else if let number = NumberParser.whole(argument), Self.realtimeNumbers.contains(number) {
      self = .realtime(number)
    } else {
      return nil
    }
  }

  /// The number of the priority, or `off`.
  public var defaultValueDescription: String {
    if case .realtime(let number) = self { "\(number)" } else { "off" }
  }
}

/// The options that every audio command shares.
struct AudioOptions: ParsableArguments {
  @Option(
    name: [.customShort("D"), .long],
    help: .init(
      "Sound card: an ALSA name (default, hw:1,0), a part of its name (usb), or sim, a simulated one.",
      discussion: """
        sim:key=value,... takes rate, channels, delay (frames), gain (dB), invert (0 or 1), noise (dBFS), \
        drift (ppm), mic (a file), clock (real or free), xrun-at, unplug-at and replug-at \
        (seconds); duplex(1) has all keys.
        """,
      valueName: "pcm"))
  var device = "default"

  @Option(
    name: [.customShort("C"), .long],
    help: .init("Input device, if it is not --device.", valueName: "pcm"))
  var captureDevice: String?

  @Option(
    name: [.customShort("P"), .long],
    help: .init("Output device, if it is not --device.", valueName: "pcm"))
  var playbackDevice: String?

  @Option(
    help: .init(
      "With two devices: whose clock is the master, playback or capture. The other direction is resampled. With this option two PCMs of one card also count as two devices. (default: playback)",
      valueName: "side"))
  var master: ClockMaster?

  @Option(
    name: [.customShort("r"), .customLong("rate")],
    help: .init(
      "Sample rate in Hz: 48000, 48k, 44.1k. (default: the device's own)", valueName: "hz"))
  private var rateOption: RateOption?

  @Option(
    name: [.customShort("c"), .customLong("channels")],
    help: .init("Number of channels. (default: the device's own, at most 2)", valueName: "n"))
  private var channelOption: Int?

  @Option(
    help: .init(
      "Channels of the device to capture, from 1, in order: 3,4. A channel may be repeated: 1,1. (default: the first)",
      valueName: "n,..."))
  var captureChannels: ChannelListOption?

  @Option(
    help: .init(
      "Channels of the device to play on; the others stay silent. (default: the first)",
      valueName: "n,..."))
  var playbackChannels: ChannelListOption?

  @Option(
    name: [.customShort("f"), .long],
    help: .init(
      "Sample format of the device: S16_LE, s16, s24le, f32le; or cd or dat, which set rate and channels too. (default: the widest)",
      valueName: "name"))
  var format: FormatOption?

  @Option(
    name: [.customShort("p"), .long],
    help: .init(
      "Period size in frames: a smaller one has lower latency. (default: what tune saved, else 256)",
      valueName: "frames"))
  var periodSize: Int?

  @Option(
    name: [.customShort("n"), .long],
    help: .init("Size of the output buffer in periods.", valueName: "n"))
  var periods = 2

  @Option(
    help: .init(
      "Frames queued ahead of the output when a callback runs, 1 or more. (default: one period)",
      valueName: "frames"))
  var headroom: Int?

  @Option(
    help: .init(
      "Resampler quality, \(DuplexRequest.resamplerQualityRange.boundsText), where rates or clocks differ; files use soxr: 0 HQ, 5 VHQ.",
      valueName: "n"))
  var resamplerQuality = 5

  @Option(
    help: .init(
      "SCHED_FIFO priority of the audio thread, \(ThreadPriority.realtimeNumbers.boundsText), or off.",
      valueName: "n|off"))
  var realtimePriority = ThreadPriority.realtime(70)

  @Option(
    name: [.customShort("d"), .long],
    help: .init(
      "Stop after this time: 90, 500ms, 1h30m, 0:01:30.5. In frames: 48000f.", valueName: "time"))
  var duration: TimeOption?

  @Option(
    help: .init(
      "Set the input volume in the card's mixer for this run: 80% of its range, or -6 in dB. It is restored at the end, except after SIGKILL.",
      valueName: "volume"))
  var captureVolume: VolumeOption?

  @Option(help: .init("Set the output volume in the same way.", valueName: "volume"))
  var playbackVolume: VolumeOption?

  @Flag(
    name: .customLong("no-reserve"),
    help: "Do not ask a sound server to release the card.")
  var doesNotReserve = false

  @Flag(help: "Print JSON events, one per line, and nothing else on standard output.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Print errors only.")
  var quiet = false

  @Flag(name: [.customShort("v"), .long], help: "Print more details.")
  var verbose = false

  @Flag(
    help: """
      Read no defaults: neither $DUPLEX_DEVICE nor duplex/config.toml in $XDG_CONFIG_HOME.
      """)
  var noConfig = false

  /// The name of the input, if one is used.
  var inputDevice: String { captureDevice ?? device }
  /// The name of the output, if one is used.
  var outputDevice: String { playbackDevice ?? device }

  /// The long names of the options with a value that have a name of one letter.
  static let longNames: [Character: String] = [
    "D": "device", "C": "capture-device", "P": "playback-device", "r": "rate", "c": "channels",
    "f": "format", "p": "period-size", "n": "periods", "d": "duration",
  ]

  /// The sample rate in Hz that the user requested; nil if none was requested.
  var rate: Int? {
    get { rateOption?.hertz ?? format?.sampleRate }
    set { rateOption = newValue.map(RateOption.init) }
  }

  /// Requests the sample rate of a file, if the user requested none and devices may support it.
  mutating func adoptRate(_ hertz: Int?) {
    guard rate == nil, let hertz, DuplexRequest.sampleRates.contains(hertz) else { return }
    rate = hertz
  }

  /// The number of channels that the user requested; nil if none was requested.
  var channels: Int? { channelOption ?? format?.channelCount }

  /// The profile that `tune` saved for the devices; nil if there is none, or if a period is
  /// requested.
  var profile: DeviceProfile? { profile(at: rate) }

  /// Returns the profile for a unit with the sample rate `rate` in Hz.
  func profile(at rate: Int?) -> DeviceProfile? {
    guard periodSize == nil else { return nil }
    return DeviceProfile.find(capture: inputDevice, playback: outputDevice, rate: rate)
  }

  /// Returns these options with the settings of `profile`. Its rate is left out if another rate is
  /// preferred.
  func following(_ profile: DeviceProfile, preferredRate: Int?) -> AudioOptions {
    var options = self
    options.periodSize = profile.periodFrames
    options.headroom = headroom ?? profile.headroomFrames
    options.rate = rate ?? (preferredRate == nil ? profile.sampleRate : nil)
    return options
  }

  /// Returns whether the period and the headroom that the device granted are those of the profile.
  func followsProfile(_ configuration: DuplexConfiguration) -> Bool {
    guard let profile else { return false }
    return profile.periodFrames == configuration.periodFrames
      && (headroom ?? profile.headroomFrames) == configuration.headroomFrames
  }

  /// Whether the output is a simulated device that runs in virtual time.
  var playsInVirtualTime: Bool {
    (try? SimulatedDeviceSpecification(parsing: outputDevice))?.clock == .free
  }

  /// Returns the request that these options make for a unit that captures, plays, or both.
  func request(captures: Bool, plays: Bool) -> DuplexRequest {
    var request = DuplexRequest(
      captureDevice: captures ? inputDevice : nil, playbackDevice: plays ? outputDevice : nil)
    request.sampleRate = rate
    request.channelCount = channels
    request.captureChannels = captures ? captureChannels?.channels : nil
    request.playbackChannels = plays ? playbackChannels?.channels : nil
    request.format = format?.format
    request.periodFrames = periodSize ?? request.periodFrames
    request.periods = periods
    request.headroomFrames = headroom
    request.resamplerQuality = resamplerQuality
    return request
  }
}

/// The option for further devices that play the same signal as the output.
struct AlsoPlayOption: ParsableArguments {
  @Option(
    name: .customLong("also-play"),
    help: .init(
      "Also play on this device, for example speakers. May be repeated.", valueName: "pcm"))
  var devices: [String] = []
}

/// The option to wait for an unplugged device and continue when it is back.
struct ReconnectOption: ParsableArguments {
  @Flag(
    inversion: .prefixedNo,
    help: """
      Wait for an unplugged device, and continue when it is back. (default: on for cards)
      """)
  var reconnect: Bool?

  /// Returns the choice of the user. Without one, returns whether all devices of `configuration`
  /// can be recognised after they were unplugged.
  func isWanted(for configuration: DuplexConfiguration) -> Bool {
    let names = [configuration.capture, configuration.playback].compactMap { $0?.device }
    return reconnect ?? names.allSatisfy(Self.canReturn)
  }

  private static func canReturn(_ name: String) -> Bool {
    guard SimulatedDeviceSpecification.isSimulated(name) else {
      return DeviceIdentity.isKnown(name)
    }
    return (try? SimulatedDeviceSpecification(parsing: name))?.replugSeconds.isEmpty == false
  }
}
