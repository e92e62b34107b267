import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions

/// A recording within a session: its disk half, its part in the watch, and what it comes to.
struct RecordingSession {
  let saver: RecordingWriter
  let watch: RecordingWatch
  /// How long the session may run; nil for as long as the options say.
  let frameLimit: Int?
  private let target: RecordingTarget
  private let plan: RecordingPlan
  private let sampleRate: Int
  private let rawPath: String?

  /// Makes the files of what `stream` brings, as the options say.
  init(
    _ target: RecordingTarget, _ options: RecordingOptions, _ audio: AudioOptions,
    _ stream: StreamConfiguration?, _ configuration: DuplexConfiguration, _ clock: SessionClock
  ) throws {
    sampleRate = configuration.sampleRate
    let settings = try options.settings(audio.duration, at: sampleRate)
    plan = try settings.plan(target, stream, sampleRate: sampleRate, clock)
    // Where no key can be pressed, none is waited for.
    let waits =
      settings.preRollSeconds != nil && !settings.isVoiceActivated
      && (Terminal.hasKeyboard || Terminal.isPiped)
    if settings.preRollSeconds != nil, !settings.isVoiceActivated, !waits {
      Notice.warning(
        "noKeyboard", "there is no keyboard here: the recording starts at once."
      ).report()
    }
    saver = try RecordingWriter(plan, settings, configuration, startsAtOnce: !waits)
    watch = RecordingWatch(saver, audio, configuration, path: target.path, waits: waits)
    let check = Int(clamping: settings.checkSeconds * Double(sampleRate))
    // A take that waits is as long from its start on: its gate says when it is over.
    frameLimit =
      waits ? .max : audio.duration.map { $0.frameCount(at: configuration.sampleRate) + check }
    self.target = target
    rawPath = settings.rawPath
  }

  /// Puts its halves of the audio thread on `callbacks`.
  func install(on callbacks: inout Mixer, takesMix: Bool = false) {
    if takesMix {
      callbacks.mixRecorder = saver.takeRecorder()
    } else {
      callbacks.recorder = saver.takeRecorder()
    }
    callbacks.playedRecorder = saver.takePlayedRecorder()
  }

  /// What it adds to a summary.
  var summary: [(String, JSON)] {
    let report = saver.report
    let head: [(String, JSON)] =
      JSON.written(report.files.map(\.path)) + [
        ("fileFormat", .string(plan.fileFormat.name)),
        ("sampleFormat", .string(plan.sampleFormat.name)),
        ("channels", .integer(plan.channelCount)), ("recordedFrames", .integer(report.frames)),
      ]
    var tail: [(String, JSON)] = rawPath.map { [("rawPath", JSON.written($0))] } ?? []
    tail += [
      ("markers", .array(report.markers.map(json))),
      ("pauses", .array(report.pauses.map { .fields(JSON.members(of: $0)) })),
      ("files", .array(report.files.map(json))),
    ]
    if plan.leavesSilenceOut { tail.append(("segments", .array(report.stretches.map(json)))) }
    return head + JSON.levels(report.levels) + tail
  }

  private var path: String { saver.report.files.first?.path ?? target.path }

  private func json(_ marker: RecordedMarker) -> JSON {
    .object(["frame": .integer(marker.frame), "label": .string(marker.label)])
  }

  private func json(_ file: RecordedFile) -> JSON {
    .object([
      "path": .string(file.path), "frame": .integer(file.firstFrame),
      "frames": .integer(file.frames), "start": .string(LocalTime(file.start).text),
    ])
  }

  private func json(_ stretch: RecordedStretch) -> JSON {
    .object([
      "timelineFrame": .integer(stretch.timelineFrame), "frame": .integer(stretch.frame),
      "frames": .integer(stretch.frames), "start": .string(LocalTime(stretch.start).text),
    ])
  }

  /// What was recorded, for a person.
  var sentence: String {
    let report = saver.report
    guard report.frames > 0 else { return "Nothing was recorded: \(emptiness)" }
    let seconds = Double(report.frames) / Double(sampleRate)
    let peak = report.peaks.max().map { Decibels.level($0).shown(1) + " dBFS peak" } ?? "no peak"
    let loudness = report.integratedLUFS.map { ", \($0.shown(1)) LUFS" } ?? ""
    let clipped = report.levels.clippedSamples.reduce(0, +)
    let lost = report.gaps.reduce(0) { $0 + $1.frames }
    let files = report.files.count
    let name = files > 1 ? "\(path) and \(files - 1) more" : path
    return "\(name): \(seconds.shown(2)) s, \(report.frames) frames, \(peak)\(loudness)"
      + (plan.leavesSilenceOut
        ? ", \(report.stretches.count) phrase\(report.stretches.count == 1 ? "" : "s")" : "")
      + (clipped > 0 ? ", \(clipped) samples clipped" : "")
      + (lost > 0
        ? ", \(lost) frames lost in \(report.gaps.count) gap\(report.gaps.count == 1 ? "" : "s")"
        : "") + "."
  }

  private var emptiness: String {
    if plan.leavesSilenceOut { return "no voice was heard." }
    return watch.isWaiting ? "it was never started." : "there was no time for a frame."
  }
}

extension RecordingTarget {
  /// Refuses what cannot go together, and warns of what the format has no place for.
  func check(_ options: RecordingOptions, json: Bool) throws(ToolFailure) {
    try checkRaw(options.cleaning.raw)
    let tags = options.tags.tags
    if tags != SoundFileTags(), fileFormat == .w64 || fileFormat == .raw || isStream {
      Notice.warning(
        "tagsLeftOut", "\(isStream ? "a pipe" : fileFormat.title) has no place for tags."
      ).report()
    } else if tags.fitting(fileFormat) != tags {
      Notice.warning(
        "tagsCut", "\(fileFormat.title) cannot hold tags as long as these: they are cut."
      ).report()
    }
    guard isStream else { return }
    guard !json else {
      throw ToolFailure(
        .usage, code: "usage", "Standard output cannot carry the recording and events.",
        hint: "Leave out --json, or name a file.")
    }
    guard options.onFile == nil else {
      throw ToolFailure(
        .usage, code: "usage", "Standard output is no file that --on-file could be given.",
        hint: "Leave out --on-file, or name a file.")
    }
    guard options.split == nil else {
      throw ToolFailure(
        .usage, code: "usage", "Standard output cannot be split into files.",
        hint: "Leave out --split, or name a file.")
    }
  }
}

extension RecordingTarget {
  /// What was not cleaned needs a file of its own.
  fileprivate func checkRaw(_ raw: String?) throws(ToolFailure) {
    guard let raw else { return }
    guard raw != "-" else {
      throw ToolFailure(
        .usage, code: "usage", "What was not cleaned cannot go to standard output.",
        hint: "Name a file with --raw.")
    }
    guard !OutputFolder.isSame(raw, path) else {
      throw ToolFailure(
        .usage, code: "usage", "--raw names the file that is recorded.",
        hint: "Give each a name of its own.")
    }
    guard overwrite || FileRemoval.byteCount(of: raw) == nil else {
      throw ToolFailure(
        .cannotCreate, code: "outputRefused", "\(raw) exists already.",
        hint: "Choose another name, or ask to overwrite it.")
    }
  }
}
