/// A sound card and what it has.
public struct CardDescription: Sendable, Equatable {
  /// The number it has today. Another plug, another number.
  public var number: Int
  /// Its name within ALSA, which stays: `USB` in `hw:CARD=USB`.
  public var id: String
  /// Its name for people.
  public var name: String
  /// Its PCM devices, by number.
  public var devices: [DeviceDescription]
  /// Why its devices are not known, where they are not.
  public var failure: DeviceFailure?
}

/// A PCM device of a card: the input, the output, or both of one converter.
public struct DeviceDescription: Sendable, Equatable {
  /// The ALSA name that opens it, `hw:CARD=USB,DEV=0`.
  public var name: String
  /// Its name for people.
  public var title: String
  /// Its input, where it has one.
  public var capture: StreamDescription?
  /// Its output, where it has one.
  public var playback: StreamDescription?
}

/// One direction of a PCM device.
public struct StreamDescription: Sendable, Equatable {
  /// How it was found.
  public enum State: Sendable, Equatable {
    /// Free, and able to do this.
    case free(StreamAbilities)
    /// In use, by whom if that is known. What it can do is not told while it is.
    case busy(BusyHolder?)
    /// Not to be opened.
    case failed(DeviceFailure)
  }

  /// Programs that can have it open at the same time.
  public var subdeviceCount: Int
  /// How it was found.
  public var state: State
}

/// What one direction of a device can do, each figure on its own: not every combination holds.
public struct StreamAbilities: Sendable, Equatable {
  /// ALSA's names of the sample formats.
  public var formats: [String]
  /// Frames a second, lowest and highest.
  public var sampleRates: ClosedRange<Int>
  /// Samples in a frame, fewest and most.
  public var channelCounts: ClosedRange<Int>
  /// Frames from one interrupt to the next.
  public var periodFrames: ClosedRange<Int>
  /// Frames of the device's buffer.
  public var bufferFrames: ClosedRange<Int>
}

/// A PCM that ALSA's configuration defines: a plugin, or a name for hardware.
public struct NamedPCM: Sendable, Equatable {
  /// The ALSA name that opens it.
  public var name: String
  /// What the configuration says about it, in lines.
  public var comment: String
  /// Whether it can be an input.
  public var canCapture: Bool
  /// Whether it can be an output.
  public var canPlay: Bool
}

/// The program that has a device open.
public struct BusyHolder: Sendable, Equatable, CustomStringConvertible {
  /// Its name, cut by the kernel after 15 bytes.
  public var name: String
  /// Its process number.
  public var process: Int

  /// For sentences: `pipewire (process 812)`.
  public var description: String { "\(name) (process \(process))" }
}
