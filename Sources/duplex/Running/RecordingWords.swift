import AudioBasics
import AudioFiles
import AudioLevels
import AudioSessions

/// What happens to a recording, as an event and in a sentence.
struct RecordingWords {
  let sampleRate: Int

  /// The event; nil where none is due.
  func event(_ event: RecordingEvent) -> Event? {
    switch event {
    case .overflow(let frame, let frames):
      return Event(
        "xrun",
        [
          "direction": .string("capture"), "frame": .integer(frame), "frames": .integer(frames),
          "cause": .string("disk"),
        ])
    case .marker(let marker):
      return Event(
        "marker",
        [
          "frame": .integer(marker.frame), "seconds": seconds(marker.frame),
          "label": .string(marker.label),
        ])
    case .split(let file):
      return Event(
        "split",
        [
          "path": .string(file.path), "frame": .integer(file.firstFrame),
          "start": .string(LocalTime(file.start).text),
        ])
    case .finished(let file):
      return Event(
        "file",
        [
          "path": .string(file.path), "frame": .integer(file.firstFrame),
          "frames": .integer(file.frames), "start": .string(LocalTime(file.start).text),
        ])
    case .removed(let path):
      return Event("removed", ["path": .string(path)])
    case .paused(let pause): return self.event(pause, "paused")
    case .resumed(let pause): return self.event(pause, "resumed")
    case .opened(let stretch):
      return Event(
        "segment",
        [
          "state": .string("opened"), "frame": .integer(stretch.frame),
          "timelineFrame": .integer(stretch.timelineFrame),
          "start": .string(LocalTime(stretch.start).text),
        ])
    case .closed(let stretch):
      return Event(
        "segment",
        [
          "state": .string("closed"), "frame": .integer(stretch.frame),
          "frames": .integer(stretch.frames), "timelineFrame": .integer(stretch.timelineFrame),
          "start": .string(LocalTime(stretch.start).text),
        ])
    case .checked(let levels):
      let verdict = GainVerdict(levels)
      return Event(
        "gainCheck",
        [("verdict", .string(verdict.name)), ("message", .string(verdict.sentence))]
          + JSON.levels(levels))
    case .onlySilence: return nil
    case .diskLow(let seconds):
      return Event("disk", ["secondsLeft": .rounded(seconds, 0)])
    case .warning(let failure):
      return Notice.warning(ToolFailure(failure)).event
    }
  }

  private func event(_ pause: RecordingPause, _ state: String) -> Event {
    Event("pause", [("state", .string(state))] + JSON.members(of: pause))
  }

  /// The sentence; nil where nothing need be said.
  func sentence(_ event: RecordingEvent) -> String? {
    switch event {
    case .overflow(let frame, let frames):
      return "the disk stood still for too long: \(frames) frames are lost at frame \(frame). "
        + "Give it a longer --ring."
    case .marker(let marker): return "\(marker.label) at \(clock(marker.frame))."
    case .paused(let pause): return "paused at \(clock(pause.frame))."
    case .resumed(let pause): return "going on after a pause of \(clock(pause.frames))."
    case .split(let file): return "going on in \(file.path)."
    case .checked(let levels): return GainVerdict(levels).sentence
    case .diskLow(let seconds):
      let left =
        seconds < 120 ? "\(Int(clamping: seconds)) s" : "\(Int(clamping: seconds / 60)) min"
      return "the disk will be full in about \(left)."
    case .warning(let failure): return "\(failure.message) \(failure.hint)"
    case .finished, .removed, .opened, .closed, .onlySilence: return nil
    }
  }

  private func seconds(_ frame: Int) -> JSON {
    .fixed(Double(frame) / Double(sampleRate), digits: 3)
  }

  private func clock(_ frame: Int) -> String {
    ClockTime(Double(frame) / Double(sampleRate), showsTenths: true).text
  }
}

extension JSON {
  /// Levels of a programme, as they stand in events and summaries.
  static func levels(_ levels: ProgrammeLevels) -> [(String, JSON)] {
    func decibels(_ values: [Float]) -> JSON {
      .array(values.map { .rounded(Decibels.level($0)) })
    }
    func loudness(_ value: Double?) -> JSON { value.map { .rounded($0) } ?? .null }
    return [
      ("peakDBFS", decibels(levels.samplePeaks)),
      ("rmsDBFS", decibels(levels.meanSquares.map { Float($0.squareRoot()) })),
      ("truePeakDBTP", decibels(levels.truePeaks)),
      ("integratedLUFS", loudness(levels.integratedLUFS)),
      ("loudnessRangeLU", loudness(levels.loudnessRangeLU)),
      ("maximumMomentaryLUFS", loudness(levels.maximumMomentaryLUFS)),
      ("maximumShortTermLUFS", loudness(levels.maximumShortTermLUFS)),
      ("clippedSamples", .array(levels.clippedSamples.map { .integer($0) })),
      ("dcOffset", .array(levels.offsets.map { .rounded($0, 6) })),
    ]
  }
}

extension JSON {
  /// A pause of a recording.
  static func members(of pause: RecordingPause) -> [(String, JSON)] {
    [
      ("frame", .integer(pause.frame)), ("timelineFrame", .integer(pause.timelineFrame)),
      ("frames", .integer(pause.frames)),
    ]
  }

  /// What a recording adds to a meter's event.
  static func meter(_ state: RecordingState?) -> [(String, JSON)] {
    guard let state else { return [] }
    func loudness(_ value: Double?) -> JSON { value.map { .fixed($0, digits: 2) } ?? .null }
    let levels = state.levels
    return [
      ("recording", .bool(state.isOpen && !state.isPaused)),
      ("momentaryLUFS", loudness(levels.momentaryLUFS)),
      ("shortTermLUFS", loudness(levels.shortTermLUFS)),
      ("integratedLUFS", loudness(levels.integratedLUFS)),
      ("truePeakDBTP", .array(levels.truePeaks.map { .fixed(Decibels.level($0), digits: 2) })),
      ("clippedSamples", .array(levels.clippedSamples.map { .integer($0) })),
      ("diskSecondsLeft", state.secondsLeft.map { .fixed($0, digits: 0) } ?? .null),
    ]
  }
}

/// Whether a level is sensible to record at.
///
/// A voice or an instrument should peak between -18 and -6 dBFS: EBU R 68 aligns at -18 dBFS, which
/// leaves headroom for what comes louder than what was tried.
struct GainVerdict {
  /// One word for it.
  let name: String
  /// What to say to the user who turns the knob.
  let sentence: String

  /// The verdict on what was heard before the take.
  init(_ levels: ProgrammeLevels) {
    let peak = Decibels.level(levels.samplePeaks.max() ?? 0)
    let shown = peak <= -200 ? "silence" : "\(peak.shown(1)) dBFS at the loudest"
    let loudness = levels.integratedLUFS.map { ", \($0.shown(1)) LUFS" } ?? ""
    let prefix = "The level check heard \(shown)\(loudness): "
    let clips = levels.clippedSamples.reduce(0, +)
    if clips > 0 || peak > -0.1 {
      name = "clipping"
      sentence = prefix + "it clips. Lower the input gain by at least 12 dB."
    } else if peak <= -70 {
      name = "silent"
      sentence = prefix + "nothing is heard. Check the cable, the input and its mute switch."
    } else if peak < -24 {
      name = "tooQuiet"
      sentence =
        prefix + "too quiet. Raise the input gain by about \(Int(clamping: -12 - peak)) dB."
    } else if peak > -6 {
      name = "tooLoud"
      sentence =
        prefix
        + "little room is left. Lower the input gain by about \(Int(clamping: peak + 12)) dB."
    } else if let offset = levels.offsets.map(abs).max(), offset > 0.01 {
      name = "offset"
      sentence = prefix + "a good level, but the input has a DC offset. Say --high-pass 20."
    } else {
      name = "good"
      sentence = prefix + "a good level."
    }
  }
}
