import AudioBasics
import AudioFiles
import AudioLevels
import AudioSessions
import RealtimeAudio

/// The summary of a recording: its fields in the summary event, and a sentence.
struct RecordingSummary {
  let report: RecordingReport
  let plan: RecordingPlan
  /// Whether the unprocessed samples are recorded as well.
  let hasRaw: Bool
  /// Whether the recording waited for its start until the end.
  let wasNeverStarted: Bool

  /// The fields for the summary.
  var fields: Fields {
    var fields =
      Fields.written(report.files.map(\.path), beside: report.rawPaths) + [
        "fileFormat": plan.fileFormat.name, "sampleFormat": plan.sampleFormat.name,
        "channels": plan.channelCount, "recordedFrames": report.frames,
      ] + report.levels.fields
    if hasRaw {
      let paths = report.rawPaths.filter(SoundFileReader.exists)
      fields += ["rawPath": paths.first]
      if paths.count > 1 { fields += ["rawPaths": paths] }
    }
    fields += [
      "markers": report.markers.map(\.fields), "pauses": report.pauses.map(\.fields),
      "files": report.files.map(\.fields),
    ]
    if plan.leavesSilenceOut { fields += ["segments": report.segments.map(\.fields)] }
    return fields
  }

  /// Returns the sentence about the recording in `session`.
  func sentence(_ session: SessionReport) -> String {
    guard report.frames > 0 else { return "Nothing was recorded: \(reasonForNoFile)" }
    let path = report.files.first?.path ?? plan.path
    guard plan.isStream || !report.files.isEmpty else {
      return "Nothing was kept: none of the files is left."
    }
    // A command of --on-file may have moved a file.
    let missing =
      plan.isStream ? 0 : report.files.count { !SoundFileReader.exists($0.path) }
    // Of a recording in many files the oldest ones may be deleted by now, or another program may
    // have shortened one.
    let kept = plan.isStream ? report.frames : report.files.reduce(0) { $0 + $1.frames }
    let seconds = Double(kept) / Double(plan.sampleRate)
    let frames =
      kept.counted("frame") + (kept < report.frames ? " of \(report.frames) recorded" : "")
    let peak =
      report.levels.peakDBFS.max().map { $0.shownLevel + " dBFS peak" }
      ?? (plan.measuresLevels ? "no peak" : "levels off")
    let loudness = report.levels.integratedLUFS.map { ", \($0.shown(1)) LUFS" } ?? ""
    let clipped = report.levels.clippedSamples.reduce(0, +)
    let gaps = session.gaps(in: report)
    let lost = gaps.reduce(0) { $0 + $1.frames }
    let files = report.files.count
    let name =
      plan.isStream ? "standard output" : files > 1 ? "\(path) and \(files - 1) more" : path
    return "\(name): \(seconds.shown(2)) s, \(frames), \(peak)\(loudness)"
      + (plan.leavesSilenceOut ? ", \(report.segments.count.counted("phrase"))" : "")
      + (clipped > 0 ? ", \(clipped.counted("sample")) clipped" : "")
      + (lost > 0 ? ", \(lost.counted("frame")) lost in \(gaps.count.counted("gap"))" : "")
      + (missing == 0
        ? "."
        : files > 1
          ? "; \(missing) of the files are no longer there under their names."
          : "; the file is no longer there under this name.")
  }

  private var reasonForNoFile: String {
    if plan.leavesSilenceOut, report.segments.isEmpty { return "no voice was detected." }
    return wasNeverStarted ? "the recording was never started." : "it ended before the first frame."
  }
}

extension Fields {
  /// Returns those of the written files that exist, followed by those of `others` that exist.
  /// `path` is included if at most one written file exists.
  static func written(_ paths: [String], beside others: [String] = []) -> Fields {
    let paths = paths.filter(SoundFileReader.exists)
    return ["paths": paths + others.filter(SoundFileReader.exists)]
      + (paths.count > 1 ? [:] : ["path": paths.first])
  }
}

extension ProgrammeLevels {
  /// The fields for events and summaries.
  var fields: Fields {
    [
      "peakDBFS": peakDBFS.map { $0.digits(2) }, "rmsDBFS": rmsDBFS.map { $0.digits(2) },
      "truePeakDBTP": truePeakDBTP.map { $0.digits(2) },
      "integratedLUFS": integratedLUFS?.digits(2),
      "loudnessRangeLU": loudnessRangeLU?.digits(2),
      "maximumMomentaryLUFS": maximumMomentaryLUFS?.digits(2),
      "maximumShortTermLUFS": maximumShortTermLUFS?.digits(2), "clippedSamples": clippedSamples,
      "dcOffset": offsets,
    ]
  }
}

extension RecordedMarker {
  /// The fields for events and summaries.
  var fields: Fields { ["frame": frame, "label": label] }
}

extension RecordingPause {
  /// The fields for events and summaries.
  var fields: Fields { ["frame": frame, "timelineFrame": timelineFrame, "frames": frames] }
}

extension RecordedFile {
  /// The fields for events and summaries.
  var fields: Fields {
    ["path": path, "frame": firstFrame, "frames": frames, "start": LocalTime(start).text]
  }
}

extension RecordedSegment {
  /// The fields for the start of the segment.
  var startFields: Fields {
    ["timelineFrame": timelineFrame, "frame": frame, "start": LocalTime(start).text]
  }

  /// The fields for events and summaries.
  var fields: Fields { startFields + ["frames": frames] }
}

extension RecordingState {
  /// The fields that a recording adds to a meter event.
  var fields: Fields {
    [
      "recording": isOpen && !isPaused, "momentaryLUFS": levels.momentaryLUFS?.digits(2),
      "shortTermLUFS": levels.shortTermLUFS?.digits(2),
      "integratedLUFS": levels.integratedLUFS?.digits(2),
      "truePeakDBTP": levels.truePeakDBTP.map { $0.digits(2) },
      "clippedSamples": levels.clippedSamples, "diskSecondsLeft": secondsLeft?.digits(0),
    ]
  }
}
