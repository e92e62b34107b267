import Duplex
import Testing

/// How runs begin and end.
@Suite struct EngineRunTests {
  private let folder = TemporaryFolder()

  private func failure(of settings: DuplexEngine.Settings, input: String?, output: String?) async
    -> EngineFailure?
  {
    let engine = DuplexEngine(input: input, output: output, settings)
    engine.player.enqueue(path: "nowhere.wav")
    engine.player.play()
    do throws(EngineFailure) {
      try await engine.run(seconds: 0.1)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the output's recording ends where the player ends the run`() async throws {
    var writer = try SoundFileWriter(
      path: folder.path("short.wav"), fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 2, overwrite: false)
    try writer.write(SampleBuffer(frameCount: 13004, channelCount: 2), frames: 13004)
    try writer.finish()
    var ending = DuplexEngine.Settings()
    ending.endsWithPlayer = true
    let engine = DuplexEngine(input: nil, output: "sim:clock=free", ending)
    var settings = RecordingSettings()
    settings.source = .output
    let recording = try await engine.record(to: folder.path("output.wav"), settings)
    engine.player.enqueue(path: folder.path("short.wav"))
    engine.player.play()
    try await engine.start()
    let report = await engine.finished()
    #expect(report.frames == 13004)
    #expect(recording.report?.frames == 13004)
  }
}
