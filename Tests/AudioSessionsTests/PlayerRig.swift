import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio
import TemporaryFolders

extension CycleTime {
  static var start: CycleTime { CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0) }
}

/// A player in virtual time: its cycles and its other threads run in turn on one thread.
final class PlayerRig {
  let player: AudioPlayer
  private(set) var periodFrames = 64
  private var voice: PlayerStage?
  private var bus: MixerBus
  private var background: [any BackgroundWork] = []
  private let log = EventLog()
  /// The files, which must exist as long as they may be played.
  private var files: [CountedFile] = []
  /// The position of the unit's timeline in frames.
  private(set) var frame = 0

  final class EventLog: Sendable {
    let events = MutexBox<[PlayerEvent]>([])
  }

  init(
    sampleRate: Int = 48000, channelCount: Int = 2, endsWithQueue: Bool = true,
    prebufferSeconds: Double? = nil
  ) throws(DeviceFailure) {
    player = AudioPlayer(endsWithQueue: endsWithQueue, prebufferSeconds: prebufferSeconds)
    bus = MixerBus(periodFrames: periodFrames, channelCount: channelCount)
    player.addEventHandler { [log] event in log.events.withLock { $0.append(event) } }
    try attach(sampleRate: sampleRate, channelCount: channelCount)
  }

  /// Continues on another unit, after `conclude`.
  func attach(
    sampleRate: Int = 48000, channelCount: Int = 2, periodFrames: Int = 64
  ) throws(DeviceFailure) {
    self.periodFrames = periodFrames
    voice = try player.attach(
      to: AudioPlayer.Shape(
        sampleRate: sampleRate, channelCount: channelCount, periodFrames: periodFrames))
    bus = MixerBus(periodFrames: periodFrames, channelCount: channelCount)
    background = player.background
    frame = 0
  }

  /// Adds `file` to the end of the queue.
  func enqueue(_ file: CountedFile, settings: TrackSettings = TrackSettings()) {
    files.append(file)
    player.enqueue(path: file.path, settings: settings)
  }

  /// The events since the last access.
  var events: [PlayerEvent] {
    log.events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  var isFinished: Bool { voice?.isFinished ?? true }

  /// Whether sources that may take long, such as network sources, are opened in a step.
  var opensSlowSources = true

  /// Runs one step of the other threads. The first of them opens sources.
  func step() {
    for work in background.dropFirst(opensSlowSources ? 0 : 1) { _ = work.step() }
  }

  /// Runs one cycle with the other threads. Returns the first channel of the output, including
  /// silence.
  func cycle() -> [Float] {
    step()
    return hear()
  }

  /// Runs one cycle of the audio thread alone, as while the other threads wait.
  func hear() -> [Float] {
    bus.begin(
      frames: periodFrames, at: CycleTime(frame: frame, nanoseconds: 0, lostFrames: 0))
    bus.buffer.clear(frames: periodFrames)
    voice?.process(&bus)
    frame += periodFrames
    return (0..<periodFrames).map { bus.buffer[$0 * bus.buffer.channelCount] }
  }

  /// Runs `count` cycles.
  func run(cycles count: Int) -> [Float] {
    var heard: [Float] = []
    for _ in 0..<count { heard += cycle() }
    return heard
  }

  /// Ends the session.
  func conclude() {
    for work in background {
      work.conclude()
      while work.step() {}
    }
  }
}

/// A file of numbered frames, removed with its owner: the samples of frame n are (n + 1) / 2^23 and
/// the negative of that.
final class CountedFile {
  private let folder = TemporaryFolder()
  let path: String
  let frames: Int

  init(frames: Int, format: FileFormat = .wav, sampleRate: Int = 48000, first: Int = 0) throws {
    path = folder("counted.\(format.name)")
    self.frames = frames
    var writer = try SoundFileWriter(
      path: path, fileFormat: format, sampleFormat: .s24, sampleRate: sampleRate, channelCount: 2,
      overwrite: false)
    var buffer = SampleBuffer(frameCount: max(1, frames), channelCount: 2)
    for frame in 0..<frames {
      buffer[2 * frame] = Float(first + frame + 1) / 8_388_608
      buffer[2 * frame + 1] = -buffer[2 * frame]
    }
    try writer.write(buffer, frames: frames)
    try writer.finish()
  }
}

/// Returns the frame number of each sample; -1 for silence.
func numbers(_ samples: [Float]) -> [Int] { samples.map { Int(clamping: $0 * 8_388_608) - 1 } }

/// Returns a description of the first difference between two sequences of frames; nil if one is a
/// prefix of the other.
func difference(_ heard: some Sequence<Int>, _ expected: some Sequence<Int>) -> String? {
  for (index, pair) in zip(heard, expected).enumerated() where pair.0 != pair.1 {
    return "frame \(index): \(pair.0) instead of \(pair.1)"
  }
  return nil
}
