import AudioFiles
import RealtimeAudio

/// When a recording goes on in its next file.
public enum SplitRule: Sendable, Equatable {
  /// After that number of frames.
  case frames(Int)
  /// Before the file grows beyond that number of bytes.
  case bytes(Int)
  /// Where a pause begins or, with silence left out, with every phrase.
  case silence
}

/// How much a recording in many files keeps; the oldest of its files go.
public enum KeepRule: Sendable, Equatable {
  /// The number of files, the one that grows included.
  case files(Int)
  /// The number of bytes, without the file that grows.
  case bytes(Int)
  /// What is younger than that number of seconds.
  case seconds(Double)
}

/// How a recording is kept on disk.
public struct RecordingPlan: Sendable {
  /// The file; of several the pattern of their names (see `SeriesNames`). `-` is standard output.
  public var path: String
  /// What kind of file it is.
  public var fileFormat: FileFormat
  /// How it keeps samples.
  public var sampleFormat: FileSampleFormat
  /// Frames a second.
  public var sampleRate: Int
  /// Samples in a frame.
  public var channelCount: Int
  /// Whether a file that exists is replaced. Only the first: what a recording itself wrote never is.
  public var overwrite = false
  /// What is played or heard meanwhile, and so is never written to.
  public var inputs: Set<FileIdentity> = []
  /// What the files say of themselves.
  public var tags = SoundFileTags()
  /// When the next file begins; nil for one file, which can still be split by hand.
  public var split: SplitRule?
  /// How much is kept; nil for all.
  public var keep: KeepRule?
  /// A shell command to run after each file, which finds the file's path in `$1`.
  public var onFile: String?
  /// How old, in seconds, what is not yet on the disk may grow.
  public var syncSeconds = 1.0
  /// Seconds that are listened to and judged before the take begins.
  public var checkSeconds = 0.0
  /// Whether silence is left out by the gate, so that each stretch begins at a time of its own.
  public var leavesSilenceOut = false
  /// Whether time is virtual, and so begins on 1 January 1970.
  public var isVirtual = false

  /// All of what is recorded, in one file.
  public init(
    path: String, fileFormat: FileFormat, sampleFormat: FileSampleFormat, sampleRate: Int,
    channelCount: Int
  ) {
    self.path = path
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }

  /// Whether the recording goes to standard output.
  public var isStream: Bool { path == "-" }

  /// The same for one file of what was not cleaned, in `path`.
  func raw(_ path: String) -> RecordingPlan {
    var plan = self
    plan.path = path
    plan.split = nil
    plan.keep = nil
    plan.onFile = nil
    plan.leavesSilenceOut = false
    return plan
  }

  /// Whether each phrase gets a file of its own, which is made when speech begins.
  var isFilePerStretch: Bool { leavesSilenceOut && split == .silence }
}

/// What the user asks of a recording while it runs.
public enum RecordingCommand: Sendable, Equatable {
  /// Begins the take, where it waits for that, with what came just before.
  case start
  /// Goes on in the next file.
  case split
  /// Marks the place.
  case mark(String)
  /// Keeps nothing until the user goes on.
  case pause
  /// Goes on after a pause.
  case resume
}

/// Takes wishes to the disk thread. Any thread but the audio thread.
public final class RecordingRemote: Sendable {
  /// A wish and the timeline's frame at which it was made.
  struct Order: Sendable {
    let frame: Int
    let command: RecordingCommand
  }

  private let orders = MutexBox<[Order]>([])

  init() {}

  /// Asks for `command` at `frame` of the unit's timeline.
  public func ask(_ command: RecordingCommand, at frame: Int) {
    orders.withLock { $0.append(Order(frame: frame, command: command)) }
  }

  /// What was asked since the last time.
  func take() -> [Order] {
    orders.withLock { orders in
      defer { orders = [] }
      return orders
    }
  }
}

/// Something that is due again and again, by frames.
struct FrameInterval {
  private let length: Int
  private var passed = 0

  /// Due each `length` frames; with `isDueAtOnce` with the first ones, too.
  init(_ length: Int, isDueAtOnce: Bool = false) {
    self.length = max(1, length)
    if isDueAtOnce { passed = self.length }
  }

  /// That number of frames went by.
  mutating func pass(_ frames: Int) {
    passed += frames
  }

  /// Whether it is due; then it begins anew.
  mutating func takeDue() -> Bool {
    guard passed >= length else { return false }
    passed = 0
    return true
  }
}

/// What the clock on the wall shows for a time of the device's clock.
struct WallClock: Sendable {
  private let isVirtual: Bool

  /// The host's; or that of virtual time, which begins with 1970 so that every run is the same.
  init(isVirtual: Bool) {
    self.isVirtual = isVirtual
  }

  /// Nanoseconds since 1970 at `nanoseconds` of the device's clock. Asked anew each time, because
  /// the clock on the wall may be set.
  func time(at nanoseconds: Int) -> UInt64 {
    if isVirtual { return UInt64(max(0, nanoseconds)) }
    let ago = Int(clamping: HostClock.nanoseconds) &- nanoseconds
    return UInt64(max(0, Int(clamping: WallTime.nanoseconds) &- ago))
  }

  /// Nanoseconds since 1970 before any device runs.
  var start: UInt64 { isVirtual ? 0 : WallTime.nanoseconds }
}
