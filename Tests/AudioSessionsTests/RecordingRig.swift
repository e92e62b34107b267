import AudioBasics
import AudioDevices
import AudioFiles
import Glibc
import RealtimeAudio
import TemporaryFolders

@testable import AudioSessions

/// A recorder and its writer in a separate folder, stepped by the test. The samples are frame
/// numbers.
final class RecordingRig {
  let folder: TemporaryFolder
  let writer: RecordingWriter
  private var recorder: Recorder?
  private var frame = 0
  private(set) var events: [RecordingEvent] = []

  /// Creates a mono recording at 8 kHz after applying `change` to its plan.
  init(
    name: String = "take.wav", ringFrames: Int = 100_000,
    gate: any RecordingGate = WindowGate(PunchWindow()), rawName: String? = nil,
    in folder: TemporaryFolder = TemporaryFolder(), folders: [String] = [],
    _ change: (inout RecordingPlan) -> Void = { _ in }
  ) throws {
    self.folder = folder
    for name in folders { mkdir(folder(name), 0o777) }
    var plan = RecordingPlan(
      path: folder(name), fileFormat: .wav, sampleFormat: .float, sampleRate: 8000,
      channelCount: 1)
    plan.isVirtual = true
    change(&plan)
    writer = try RecordingWriter(
      plan, ringFrames: ringFrames, gate: gate, rawPath: rawName.map(folder.callAsFunction))
    recorder = writer.takeRecorder()
  }

  /// Lets the recording begin at `frame` of the timeline. Call it before the first frame.
  func begin(at frame: Int) { self.frame = frame }

  /// Passes `frames` further frames to the recorder, after a gap of `lost` frames.
  func record(_ frames: Int, lost: Int = 0) {
    frame += lost
    var done = 0
    while done < frames {
      let count = min(1000, frames - done)
      var buffer = SampleBuffer(frameCount: count, channelCount: 1)
      for index in 0..<count { buffer[index] = Float(frame + index + 1) / 1_048_576 }
      let end = UInt64(frame + count) * 1_000_000_000 / 8000
      recorder?.record(
        buffer, frames: count,
        at: CycleTime(frame: frame, nanoseconds: end, lostFrames: done == 0 ? lost : 0))
      frame += count
      done += count
    }
  }

  /// Reports `frames` lost frames to the recorder, without frames after them.
  func lose(_ frames: Int) {
    recorder?.record(
      SampleBuffer(frameCount: 1, channelCount: 1), frames: 0,
      at: CycleTime(frame: frame + frames, nanoseconds: 0, lostFrames: frames))
    frame += frames
  }

  /// Runs one step of the disk thread.
  func save() {
    _ = writer.step()
    events += writer.events.take()
  }

  /// Ends the recording.
  func finish() {
    recorder?.finish()
    while writer.step() { HostClock.pause(milliseconds: 1) }
    events += writer.events.take()
  }

  /// The names of the files in the folder.
  var names: [String] { folder.names }

  /// Returns the numbers of the frames in a file; 0 for silence.
  func numbers(in path: String) throws -> [Int] {
    var file = try SoundFileReader(path: path)
    var numbers: [Int] = []
    var buffer = SampleBuffer(frameCount: 4096, channelCount: 1)
    while true {
      let count = try file.read(into: &buffer)
      guard count > 0 else { return numbers }
      for index in 0..<count { numbers.append(Int(rounding: Double(buffer[index]) * 1_048_576)) }
    }
  }

  /// Returns the numbers in all files, in order.
  func allNumbers() throws -> [Int] {
    try writer.report.files.flatMap { try numbers(in: $0.path) }
  }
}
