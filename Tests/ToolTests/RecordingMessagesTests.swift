import AudioSessions
import Testing

@testable import duplex

/// Tests of the sentences about a recording.
@Suite struct RecordingMessagesTests {
  private let plan = RecordingPlan(
    path: "take.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2)

  @Test func `the remedy for a disk that stalls is one that the command has`() {
    let note = RecordingMessages(plan).overflowSentence(frame: 70, frames: 5)
    #expect(note.contains("5 frames lost at frame 70.") && note.hasSuffix("Use a longer --ring."))
    let take = RecordingMessages(plan, stallRemedy: TakeKeys.stallRemedy)
      .overflowSentence(frame: 70, frames: 5)
    #expect(take.contains("5 frames lost at frame 70.") && !take.contains("--"))
  }
}
