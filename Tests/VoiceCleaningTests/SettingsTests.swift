import Testing
import VoiceCleaning

@Suite struct SettingsTests {
  /// Returns the failure that `settings` cause; nil if they are valid.
  private func failure(
    _ settings: CleaningSettings, sampleRate: Int = 48000, channelCount: Int = 1
  ) -> CleaningFailure? {
    do throws(CleaningFailure) {
      _ = try VoiceCleaner(settings, sampleRate: sampleRate, channelCount: channelCount)
      return nil
    } catch { return error }
  }

  @Test func `impossible settings are refused with a message and a hint`() {
    let denoise = CleaningSettings(denoise: true)
    let failures = [
      failure(denoise, sampleRate: 96000), failure(denoise, sampleRate: 4000),
      failure(CleaningSettings(highPassHertz: 80), sampleRate: 384_000),
      failure(denoise, channelCount: 0), failure(denoise, channelCount: 65),
      failure(CleaningSettings(dereverb: true), sampleRate: 96000),
      failure(CleaningSettings(highPassHertz: 9)),
      failure(CleaningSettings(highPassHertz: .nan)),
      failure(CleaningSettings(echo: EchoSettings(delayFrames: -1))),
      failure(CleaningSettings(echo: EchoSettings(delayFrames: 0, tailSeconds: 2))),
    ]
    #expect(failures.allSatisfy { $0 != nil })
    let sentences = failures.compactMap { $0 }.flatMap { [$0.message, $0.hint] }
    #expect(sentences.allSatisfy { $0.hasSuffix(".") && $0.count > 20 })
    let hints = sentences.filter { $0.contains("48000") }
    #expect(hints.count == 3)
  }

  @Test(arguments: [8000, 11025, 16000, 22050, 32000, 44100, 48000])
  func `a voice is cleaned at every usual rate`(sampleRate: Int) {
    let all = CleaningSettings(
      denoise: true, automaticGain: true, dereverb: true, highPassHertz: 80,
      echo: EchoSettings(delayFrames: 0))
    #expect(failure(all, sampleRate: sampleRate, channelCount: 2) == nil)
  }

  @Test func `a high-pass alone is accepted up to 192 kHz`() {
    #expect(failure(CleaningSettings(highPassHertz: 1000), sampleRate: 192_000) == nil)
  }

  @Test func `settings without an effect are none`() {
    #expect(CleaningSettings.none.isNone && CleaningSettings().isNone)
    #expect(!CleaningSettings(highPassHertz: 80).isNone)
  }
}
