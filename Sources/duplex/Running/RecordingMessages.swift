import AudioBasics
import AudioFiles
import AudioLevels
import AudioSessions

/// The messages about a recording, each of which is an event and a sentence.
final class RecordingMessages {
  private let sampleRate: Int
  /// The sentence about a file that cannot hold markers; nil if it can, or after the warning.
  private var markerLimit: String?
  /// The remedy for a disk that stalls for longer than the ring buffer lasts, in one sentence.
  private let stallRemedy: String
  /// The failures that were reported as warnings.
  private(set) var warnings: [FileFailure] = []

  /// Creates the messages for a recording with this `plan`, by a command that offers `stallRemedy`.
  init(_ plan: RecordingPlan, stallRemedy: String = "Use a longer --ring.") {
    sampleRate = plan.sampleRate
    self.stallRemedy = stallRemedy
    if plan.isStream {
      markerLimit = "Standard output and pipes hold no markers"
    } else if !plan.fileFormat.holdsMarkers {
      markerLimit = "\(plan.fileFormat.title) files hold no markers"
    }
  }

  /// Returns the sentence about `frames` frames, from `frame` of the timeline on, that did not fit
  /// into the ring buffer.
  func overflowSentence(frame: Int, frames: Int) -> String {
    "the disk stalled for longer than the ring buffer lasts: \(frames.counted("frame")) lost at frame \(frame). "
      + stallRemedy
  }

  /// Reports `event`.
  func report(_ event: RecordingEvent) {
    switch event {
    case .overflow(let frame, let frames):
      duplex.reportEvent(
        .xrun("capture", .gap(frame, frames) + ["cause": "disk"]),
        overflowSentence(frame: frame, frames: frames))
    case .marker(let marker): report(marker)
    case .unsetMarker(let label):
      warn(
        "markerNotSet", "\(label) is not set: no frame was recorded after it.",
        hint: "Set markers while frames are recorded.")
    case .split(let file):
      let fields: Fields = [
        "path": file.path, "frame": file.firstFrame, "start": LocalTime(file.start).text,
      ]
      duplex.reportEvent(Event("split", fields), "now recording to \(file.path).")
    case .finished(let file): duplex.reportEvent(Event("file", file.fields), nil)
    case .printed(let line): Terminal.say("\(line)")
    case .renamed(let old, to: let new, let isFolder):
      let sentence =
        isFolder
        ? "The folder \(old) was renamed while it was recorded to: the recording continues in \(new)."
        : "\(old) was renamed while it was recorded: the recording is in \(new) now."
      warn("outputRenamed", sentence, hint: "Nothing is lost.")
    case .removed(let path): duplex.reportEvent(Event("removed", ["path": path]), nil)
    case .paused(let pause):
      duplex.reportEvent(
        Event("pause", ["state": "paused"] + pause.fields), "paused at \(clock(pause.frame)).")
    case .resumed(let pause):
      duplex.reportEvent(
        Event("pause", ["state": "resumed"] + pause.fields),
        "recording again after a pause of \(clock(pause.frames)).")
    case .opened(let segment):
      duplex.reportEvent(Event("segment", ["state": "opened"] + segment.startFields), nil)
    case .closed(let segment):
      duplex.reportEvent(Event("segment", ["state": "closed"] + segment.fields), nil)
    case .checked(let levels):
      let verdict = GainVerdict(levels)
      let fields: Fields = ["verdict": verdict.name, "message": verdict.sentence]
      duplex.reportEvent(Event("gainCheck", fields + levels.fields), verdict.sentence)
    case .onlySilence: break
    case .diskLow(let seconds):
      let left =
        seconds < 120 ? "\(Int(clamping: seconds)) s" : "\(Int(clamping: seconds / 60)) min"
      duplex.reportEvent(
        Event("disk", ["secondsLeft": seconds.digits(0)]),
        "the disk will be full in about \(left).")
    case .warning(let failure):
      warnings.append(failure)
      duplex.reportEvent(
        Notice.warning(ToolFailure(failure)).event, "\(failure.message) \(failure.optionHint)")
    }
  }

  private func report(_ marker: RecordedMarker) {
    let seconds = Double(marker.frame) / Double(sampleRate)
    duplex.reportEvent(
      Event("marker", marker.fields + ["seconds": seconds.digits(3)]),
      "\(marker.label) at \(clock(marker.frame)).")
    guard let limit = markerLimit.take() else { return }
    warn(
      "markersNotInFile", "\(limit): they are in the summary only.",
      hint: "Record to a WAV file to keep them.")
  }

  private func clock(_ frame: Int) -> String {
    ClockTime(Double(frame) / Double(sampleRate), showsTenths: true).text
  }
}

/// The verdict on the level of the input for a recording.
///
/// The peaks of a voice or an instrument should be between -18 and -6 dBFS: EBU R 68 aligns at -18
/// dBFS, which leaves headroom for passages that are louder than those of the check.
struct GainVerdict {
  /// The name of the verdict in events.
  let name: String
  /// The sentence for the user who adjusts the gain.
  let sentence: String

  /// Judges the levels that were measured before the take.
  init(_ levels: ProgrammeLevels) {
    let peak = levels.peakDBFS.max() ?? -200
    let shown = peak <= -200 ? "silence" : "\(peak.shown(1)) dBFS peak"
    let loudness = levels.integratedLUFS.map { ", \($0.shown(1)) LUFS" } ?? ""
    let prefix = "The level check measured \(shown)\(loudness): "
    let clips = levels.clippedSamples.reduce(0, +)
    if clips > 0 || peak > -0.1 {
      name = "clipping"
      sentence = prefix + "it clips. Lower the input gain by at least 12 dB."
    } else if peak <= -70 {
      name = "silent"
      sentence = prefix + "no sound comes in. Check the cable, the input and its mute switch."
    } else if peak < -24 {
      name = "tooQuiet"
      sentence =
        prefix + "too quiet. Raise the input gain by about \(Int(clamping: -12 - peak)) dB."
    } else if peak > -6 {
      name = "tooLoud"
      sentence =
        prefix
        + "little headroom is left. Lower the input gain by about \(Int(clamping: peak + 12)) dB."
    } else if let offset = levels.offsets.map(abs).max(), offset > 0.01 {
      name = "offset"
      sentence = prefix + "a good level, but the input has a DC offset. Use --high-pass 20."
    } else {
      name = "good"
      sentence = prefix + "a good level."
    }
  }
}
