// WrongUse MISTAKE: uses the library wrongly. The program ends with an error, whose message it
// prints, or the library stops it with a message on standard error. Without an argument it lists
// all mistakes.
import Duplex

/// A wrong use, and the expected result.
struct Mistake: Sendable {
  enum Answer: String, Sendable { case thrown, stopped, harmless }

  let name: String
  let answer: Answer
  let make: @Sendable () async throws -> Void
}

/// An error of the library that has a message.
protocol Sentence: Error { var message: String { get } }
extension DeviceFailure: Sentence {}
extension FileFailure: Sentence {}
extension RateFailure: Sentence {}
extension CleaningFailure: Sentence {}
extension EngineFailure: Sentence {}
extension OpeningFailure: Sentence {}
extension SeekFailure: Sentence {}
extension ThreadFailure: Sentence {}

/// Callbacks whose buffer has a different shape than the device.
struct Fixed: DuplexCallbacks, ~Copyable {
  var buffer: SampleBuffer

  init(_ frameCount: Int, _ channelCount: Int) {
    buffer = SampleBuffer(frameCount: frameCount, channelCount: channelCount)
  }

  @_noLocks mutating func input(_ input: borrowing InputCycle) { input.render(into: &buffer) }
  @_noLocks mutating func output(_ output: inout OutputCycle) { output.play(buffer) }
}

/// An effect that writes `beyond` samples past the last sample of a cycle.
struct Reaching: AudioEffect {
  let beyond: Int

  @_noLocks mutating func process(_ frames: inout EffectFrames) {
    frames[frames.sampleCount + beyond] = 0
  }
}

/// A decoder that reports `surplus` frames more than requested.
final class Decoder: PlainSoundDecoder {
  let name = "decoder"
  let sampleRate: Int
  let channelCount: Int
  let frameCount: Int? = 48000
  let supportsSeeking = false
  let position = 0
  private let surplus: Int

  init(sampleRate: Int = 48000, channelCount: Int = 2, surplus: Int = 0) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.surplus = surplus
  }

  func read(
    into buffer: inout SampleBuffer, at target: Int, frames: Int
  ) throws(FileFailure) -> Int { frames + surplus }
  func seek(toFrame frame: Int) throws(FileFailure) {}
}

/// A source of 1000 bytes that reports `surplus` bytes more than requested, or none.
final class Source: ByteSource {
  let name = "source"
  let byteCount: Int? = 1000
  let isSeekable = true
  let isInterrupted = false
  private let surplus: Int

  init(surplus: Int) { self.surplus = surplus }

  func read(
    into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(FileFailure) -> Int { surplus > 0 ? bytes.count + surplus : 0 }
  func readyByteCount(at offset: Int) -> Int { 1000 }
  func interrupt() {}
  func proceed() {}
}

func open(_ device: String = "sim:clock=free") throws -> DuplexDevice {
  let opened = try OpenDevice(opening: DeviceSelection(device: device))
  return opened.device
}

/// Runs a unit with `callbacks` for 0.1 seconds.
func run(_ callbacks: consuming Fixed) throws {
  var unit = DuplexUnit(
    device: try open(), callbacks: callbacks, progress: UnitProgress(), frameLimit: 4800)
  try unit.start()
  if let failure = unit.run() { throw failure }
}

/// Runs `mixer` on a new device.
func run(
  _ mixer: consuming Mixer, background: [any BackgroundWork] = [], frameLimit: Int = 4800
) throws {
  let runner = SessionRunner(
    device: try open(), callbacks: mixer, background: background, meter: nil,
    frameLimit: frameLimit)
  _ = try runner.run(clock: .virtual) { _, _ in .proceed }
}

/// Returns a granted configuration changed by `change`.
func granted(_ change: (inout DuplexConfiguration) -> Void) throws -> DuplexConfiguration {
  var configuration = try open().configuration
  change(&configuration)
  return configuration
}

/// Validates a request changed by `change`, and opens its device.
func ask(_ change: (inout DuplexRequest) -> Void) throws {
  var selection = DeviceSelection(device: "sim:clock=free")
  change(&selection.request)
  _ = try OpenDevice(opening: selection)
}

/// Plays the enqueued items to their end. Throws the first failure that the player reports.
func play(_ enqueue: (AudioPlayer) -> Void) async throws {
  var settings = DuplexEngine.Settings()
  settings.endsWithPlayer = true
  let engine = DuplexEngine(input: nil, output: "sim:clock=free", settings)
  let failures = MutexBox<[FileFailure]>([])
  let subscription = engine.player.addEventHandler { event in
    if case .failed(let failure) = event.kind { failures.withLock { $0.append(failure) } }
  }
  enqueue(engine.player)
  engine.player.play()
  try await engine.run(seconds: 2)
  subscription.cancel()
  if let failure = failures.withLock({ $0.first }) { throw failure }
}

func write(_ buffer: borrowing SampleBuffer, frames: Int, channelCount: Int = 2) throws {
  var writer = try SoundFileWriter(
    path: "wrong.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
    channelCount: channelCount, overwrite: true)
  try writer.write(buffer, frames: frames)
}

func record(_ change: (inout RecordingPlan) -> Void, ringFrames: Int = 48000) throws {
  var plan = RecordingPlan(
    path: "plan.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2)
  plan.overwrite = true
  change(&plan)
  _ = try RecordingWriter(plan, ringFrames: ringFrames)
}

let all = deviceMistakes + engineMistakes + fileMistakes + soundMistakes
if CommandLine.arguments.count < 2 {
  for mistake in all { print("\(mistake.answer) \(mistake.name)") }
} else if let mistake = all.first(where: { $0.name == CommandLine.arguments[1] }) {
  do {
    try await mistake.make()
    print("nothing was said")
  } catch let failure as any Sentence {
    print("thrown: \(failure.message)")
  }
} else {
  print("no such mistake")
}
