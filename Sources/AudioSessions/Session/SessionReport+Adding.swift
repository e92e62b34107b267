import AudioBasics
import RealtimeAudio

extension SessionReport {
  /// Adds the report of a session that followed this one, and whose timeline begins at frame
  /// `offset` of this one's timeline: 0 if it continued that timeline. Counts are added, loads are
  /// weighted by frames, and the stop reason is that of the later session.
  public mutating func add(_ later: SessionReport, at offset: Int) {
    let before = self
    self = later
    frames = offset.clampedSum(later.frames)
    captureXruns = before.captureXruns.clampedSum(later.captureXruns)
    playbackXruns = before.playbackXruns.clampedSum(later.playbackXruns)
    lostFrames = before.lostFrames.clampedSum(later.lostFrames)
    nanCount = before.nanCount.clampedSum(later.nanCount)
    events =
      before.events
      + later.events.map { event in
        var event = event
        event.frame = event.frame.clampedSum(offset)
        return event
      }
    isDeviceStuck = before.isDeviceStuck || later.isDeviceStuck
    loadMax = max(before.loadMax, later.loadMax)
    let weight = max(0, Double(frames) - Double(before.frames))
    let all = weight + Double(before.frames)
    let own = later.configuration.map { weight / Double(max(1, $0.sampleRate)) }
    seconds = before.seconds + (own ?? later.seconds)
    guard all > 0 else { return }
    loadMean = (before.loadMean * Double(before.frames) + later.loadMean * weight) / all
  }
}
