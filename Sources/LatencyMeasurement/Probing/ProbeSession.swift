import AudioBasics
import AudioDevices
import AudioSessions
import RealtimeAudio

/// The two halves of a measurement, joined: the desk to be put on a device, and the listener to be
/// stepped beside it.
public struct ProbeSession: ~Copyable {
  /// What thinks.
  public let listener: ProbeListener
  private var desk: ProbeDesk?

  /// A measurement by `plan` on a unit of this period.
  public init(_ plan: ProbePlan, periodFrames: Int) {
    let burst = max(plan.probeFrames, plan.searchFrames)
    let sound = SampleWriter(frameCount: burst, channelCount: plan.playbackChannels)
    // Four seconds: as long as an estimate may take on a slow machine.
    let tape = SampleWriter(
      frameCount: 4 * max(plan.sampleRate, periodFrames),
      channelCount: plan.captureChannels + plan.playbackChannels)
    let gaps = EventWriter()
    let reader = sound.makeReader()
    listener = ProbeListener(
      plan: plan, sound: sound, tape: tape.makeReader(), gaps: gaps.makeReader())
    desk = ProbeDesk(
      sound: reader, tape: Recorder(tape: tape, gaps: gaps), periodFrames: periodFrames,
      captureChannels: plan.captureChannels, playbackChannels: plan.playbackChannels)
  }

  /// The audio thread's half, once.
  public mutating func takeDesk() -> ProbeDesk? {
    desk.take()
  }
}
