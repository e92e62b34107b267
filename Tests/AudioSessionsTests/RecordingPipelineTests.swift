import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import Glibc
import RealtimeAudio
import TemporaryFolders
import Testing
import VoiceCleaning

@testable import AudioSessions

/// Tests of the selection of captured frames for the file.
@Suite struct RecordingPipelineTests {
  @Test(arguments: [false, true], [FileSampleFormat.float, .s16])
  func `a take begins with its window, and gaps keep their positions`(
    isShifted: Bool, format: FileSampleFormat
  ) throws {
    let folder = TemporaryFolder()
    let delay = isShifted ? FrameShift.delayFrames : 0
    var plan = RecordingPlan(
      path: folder("take.wav"), fileFormat: .wav, sampleFormat: format, sampleRate: 48000,
      channelCount: 1)
    plan.capturedFormat = .s16LE
    let writer = try RecordingWriter(
      plan, ringFrames: 1000,
      gate: WindowGate(PunchWindow(firstFrame: 100 + delay, frames: 300)),
      shift: isShifted ? FrameShift(fraction: 0, channelCount: 1) : nil)
    var recorder = writer.takeRecorder()
    var frames = SampleBuffer(frameCount: 600, channelCount: 1)
    for index in 0..<600 { frames[index] = Float(index + 1) / 1024 }
    // Frames 200 to 249 of the unit's timeline are lost.
    recorder?.record(frames, frames: 200, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    var rest = SampleBuffer(frameCount: 350, channelCount: 1)
    for index in 0..<350 { rest[index] = frames[250 + index] }
    recorder?.record(rest, frames: 350, at: CycleTime(frame: 250, nanoseconds: 0, lostFrames: 50))
    recorder?.finish()
    while writer.step() {}
    #expect(writer.report.frames == 300)
    #expect(writer.report.gaps == [RecordingGap(frame: 100, frames: 50)])
    var file = try SoundFileReader(path: folder("take.wav"))
    var saved = SampleBuffer(frameCount: 400, channelCount: 1)
    let count = try file.read(into: &saved)
    #expect(count == 300)
    for index in 0..<300 where !(60..<190).contains(index) || !isShifted {
      let wanted = (100..<150).contains(index) ? 0 : Float(index + 101) / 1024
      #expect(abs(saved[index] - wanted) < 1e-4)
    }
  }

  @Test(arguments: [0, .infinity, .nan, -1], [Int.min, -1, .max])
  func `any length of the check and any start are accepted with a cleaner`(
    checkSeconds: Double, start: Int
  ) throws {
    let folder = TemporaryFolder()
    var plan = RecordingPlan(
      path: folder("take.wav"), fileFormat: .wav, sampleFormat: .float, sampleRate: 8000,
      channelCount: 1)
    plan.checkSeconds = checkSeconds
    let writer = try RecordingWriter(
      plan, ringFrames: 10_000,
      cleaner: VoiceCleaner(
        CleaningSettings(denoise: true), sampleRate: 8000, channelCount: 1))
    writer.control.request(.start, at: start)
    var recorder = writer.takeRecorder()
    recorder?.record(
      SampleBuffer(frameCount: 5000, channelCount: 1), frames: 5000,
      at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    recorder?.finish()
    while writer.step() {}
    #expect(writer.report.failure == nil)
    #expect(writer.report.frames == (checkSeconds == .infinity ? 0 : 5000))
  }

  @Test(arguments: [false, true])
  func `a recording needs the program until its files and their commands are complete`(
    hasCommand: Bool
  ) throws {
    let folder = TemporaryFolder()
    folder.write([], to: "take.wav.running")
    var plan = RecordingPlan(
      path: folder("take.wav"), fileFormat: .wav, sampleFormat: .float, sampleRate: 48000,
      channelCount: 1)
    if hasCommand { plan.onFile = "while [ -e $1.running ]; do sleep 0.05; done" }
    let writer = try RecordingWriter(plan, ringFrames: 48000)
    var recorder = writer.takeRecorder()
    recorder?.record(
      SampleBuffer(frameCount: 100, channelCount: 1), frames: 100,
      at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    #expect(writer.workState == .unsaved && writer.workState.isUnsaved)
    #expect(writer.step())
    #expect(writer.workState == .unsaved && !writer.workState.isSaving)
    recorder?.finish()
    if hasCommand {
      #expect(writer.step())
      #expect(writer.workState == .finishing && writer.workState.isSaving)
      #expect(writer.isWaitingForOthers)
      writer.leaveCommands()
    }
    #expect(!writer.step())
    #expect(writer.workState == .required && writer.isWaitingForOthers == hasCommand)
    #expect(writer.report.frames == 100)
  }

  @Test(arguments: [(48000, 50), (24000, 50), (23999, 20)])
  func `steps are long only if the ring is long and no levels are requested`(
    ringFrames: Int, milliseconds: Int
  ) throws {
    let folder = TemporaryFolder()
    let writer = try RecordingWriter(
      RecordingPlan(
        path: folder("take.wav"), fileFormat: .wav, sampleFormat: .float, sampleRate: 48000,
        channelCount: 1),
      ringFrames: ringFrames)
    #expect(writer.stepMilliseconds == milliseconds)
    _ = writer.events.state
    #expect(writer.stepMilliseconds == milliseconds)
    writer.events.requestState()
    #expect(writer.stepMilliseconds == 20)
  }
}
