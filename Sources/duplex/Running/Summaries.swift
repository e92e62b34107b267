import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

extension Event {
  /// What was granted.
  static func started(
    _ configuration: DuplexConfiguration, _ granted: GrantedPriority?, followsProfile: Bool
  ) -> Event {
    let capture = configuration.capture
    let playback = configuration.playback
    var fields: Fields = [
      "captureDevice": capture?.device, "playbackDevice": playback?.device,
      "sampleRate": configuration.sampleRate,
      "captureChannels": capture?.channelCount ?? 0,
      "playbackChannels": playback?.channelCount ?? 0,
      "captureFormat": capture?.format.name, "playbackFormat": playback?.format.name,
      "periodFrames": configuration.periodFrames, "periods": configuration.periods,
      "headroomFrames": configuration.headroomFrames,
      "realtimePriority": granted?.number ?? 0, "linked": configuration.isLinked,
      "resampling": configuration.isResampling, "profile": followsProfile,
      "master": configuration.master?.rawValue, "defaults": DefaultOption.current.map(\.fields),
    ]
    // Which of a device's channels are used, where these are not all of them.
    if let used = capture?.selection { fields += ["captureDeviceChannels": used.channels] }
    if let used = playback?.selection { fields += ["playbackDeviceChannels": used.channels] }
    if !configuration.secondaryOutputs.isEmpty {
      fields += ["alsoPlay": configuration.secondaryStreams()]
    }
    return Event("started", fields)
  }
}

extension FileRemoval {
  /// `path`, where there is a file.
  static func existing(_ path: String) -> String? { byteCount(of: path) == nil ? nil : path }
}

extension Fields {
  /// Xruns by direction.
  static func xruns(capture: Int, playback: Int) -> Fields {
    Fields([("capture", .integer(capture)), ("playback", .integer(playback))])
  }

  /// Frames that were lost.
  static func gap(_ frame: Int, _ frames: Int) -> Fields { ["frame": frame, "frames": frames] }

  /// The files that were written, as far as they are there: `path` as well where it is one.
  static func written(_ paths: [String]) -> Fields {
    let paths = paths.compactMap(FileRemoval.existing)
    return ["paths": paths] + (paths.count > 1 ? [:] : ["path": paths.first])
  }

  /// What every command's summary has. `overflowFrames` were captured and found no room on the way
  /// to disk.
  static func summary(
    of command: String, _ report: SessionReport, _ configuration: DuplexConfiguration,
    gaps: [RecordingGap]? = nil, overflowFrames: Int = 0
  ) -> Fields {
    let gaps = gaps.map(report.gaps(adding:)) ?? report.gaps
    var fields: Fields = [
      "command": command, "seconds": configuration.seconds(report.frames),
      "frames": report.frames, "sampleRate": configuration.sampleRate,
      "xruns": xruns(capture: report.captureXruns, playback: report.playbackXruns),
      "lostFrames": report.lostFrames + overflowFrames,
      "gaps": gaps.map { gap($0.frame, $0.frames) },
      "load": ["mean": report.loadMean.digits(5), "max": report.loadMax.digits(5)] as Fields,
      "stoppedBy": report.stopReason.name,
    ]
    if let drift = report.drift { fields += ["drift": drift.fields] }
    if !configuration.secondaryOutputs.isEmpty {
      fields += ["alsoPlay": configuration.secondaryStreams(report.secondaryOutputs)]
    }
    return fields
  }
}

extension SessionReport {
  /// What was lost, where nothing was recorded.
  fileprivate var gaps: [RecordingGap] {
    events.filter {
      $0.frames > 0 && $0.kind != .secondaryOutputLost && $0.kind != .secondaryOutputReturned
    }.map { RecordingGap(frame: $0.frame, frames: $0.frames) }
  }

  /// What was lost of a recording: its own gaps, and what was silence because the input was away.
  fileprivate func gaps(adding recorded: [RecordingGap]) -> [RecordingGap] {
    let silent = events.filter {
      $0.frames > 0 && ($0.kind == .captureReturned || $0.kind == .captureAbsent)
    }.map { RecordingGap(frame: $0.frame, frames: $0.frames) }
    let others = recorded.filter { gap in
      !silent.contains { $0.frame <= gap.frame && gap.frame <= $0.frame + $0.frames }
    }
    return (others + silent).sorted { $0.frame < $1.frame }
  }
}

extension DriftReading {
  /// The contract's figures.
  var fields: Fields {
    [
      "ppm": ppm.digits(3), "errorFrames": errorFrames.digits(3), "relocks": relocks,
      "addedFrames": addedFrames,
    ]
  }
}

extension DuplexConfiguration {
  /// How long `frames` frames are, in seconds.
  func seconds(_ frames: Int) -> Double { Double(frames) / Double(sampleRate) }

  /// The further outputs, with how each does where that is known.
  func secondaryStreams(_ readings: [SecondaryOutputReading] = []) -> [Fields] {
    secondaryOutputs.enumerated().map { index, stream in
      let fields: Fields = [
        "device": stream.device, "sampleRate": stream.sampleRate,
        "latencyFrames": stream.latencyFrames.digits(3),
      ]
      guard readings.indices.contains(index) else { return fields }
      let reading = readings[index]
      return fields + [
        "drift": reading.drift.fields, "xruns": Fields.xruns(capture: 0, playback: reading.xruns),
      ]
    }
  }

  /// What was granted, for a person.
  var sentence: String {
    let names = [capture, playback].compactMap { $0 }.map {
      "\($0.device) (\($0.channelCount) x \($0.format.name), \($0.sampleRate) Hz, "
        + "\($0.bufferFrames) frames)"
    }
    return names.joined(separator: " to ")
      + ": period \(periodFrames), headroom \(headroomFrames)"
      + (isLinked ? ", linked" : "")
      + (master.map { ", two clocks, \($0.rawValue) is master" } ?? "")
      + (isResampling ? ", resampling" : "") + "."
      + secondaryOutputs.map {
        " \($0.device) (\($0.sampleRate) Hz) plays the same \($0.latencyFrames.shown(1)) frames later."
      }.joined()
  }
}

extension StopReason {
  /// The contract's word for it.
  var name: String {
    switch self {
    case .duration: "duration"
    case .end: "end"
    case .signal: "signal"
    case .key: "key"
    case .device: "device"
    case .disk: "disk"
    case .silence: "silence"
    }
  }

  /// The failure behind it, where it is one.
  var failure: DeviceFailure? {
    if case .device(let failure) = self { return failure }
    return nil
  }
}
