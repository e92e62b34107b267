import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

extension Event {
  /// Returns the event for the start of a session, with the granted configuration.
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
    // The channels of the device are listed only if not all of them are used.
    if let used = capture?.selection { fields += ["captureDeviceChannels": used.channels] }
    if let used = playback?.selection { fields += ["playbackDeviceChannels": used.channels] }
    if !configuration.secondaryOutputs.isEmpty {
      fields += ["alsoPlay": configuration.secondaryStreams()]
    }
    return Event("started", fields)
  }

  /// Returns the event for lost frames; `fields` describe the loss.
  static func xrun(_ direction: String, _ fields: Fields) -> Event {
    Event("xrun", ["direction": direction] + fields)
  }
}

extension Fields {
  /// Returns the number of xruns in each direction.
  static func xruns(capture: Int, playback: Int) -> Fields {
    Fields([("capture", .integer(capture)), ("playback", .integer(playback))])
  }

  /// Returns the fields for a gap of `frames` lost frames.
  static func gap(_ frame: Int, _ frames: Int) -> Fields { ["frame": frame, "frames": frames] }

  /// Returns the fields that the summary of every command has. `recorded` is nil if nothing was
  /// recorded.
  static func summary(
    of command: String, _ report: SessionReport, _ configuration: DuplexConfiguration,
    recorded: RecordingReport? = nil
  ) -> Fields {
    let gaps = recorded.map { report.gaps(in: $0) } ?? report.gaps
    var lostFrames = report.lostFrames
    if let recorded {
      lostFrames += recorded.overflowFrames + recorded.lostFrames
      if case .disk = report.stopReason { lostFrames += report.framesLost(after: recorded) }
    }
    var fields: Fields = [
      "command": command, "seconds": configuration.seconds(report.frames),
      "frames": report.frames, "sampleRate": configuration.sampleRate,
      "xruns": xruns(capture: report.captureXruns, playback: report.playbackXruns),
      "lostFrames": lostFrames,
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

extension DriftReading {
  /// The fields for events and summaries.
  var fields: Fields {
    [
      "ppm": ppm.digits(3), "errorFrames": errorFrames.digits(3), "relocks": relocks,
      "addedFrames": addedFrames,
    ]
  }
}

extension DuplexConfiguration {
  /// Returns the fields of the secondary outputs, with their readings if they are known.
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

  /// The granted configuration as a sentence.
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
  /// The name in the summary.
  var name: String {
    switch self {
    case .duration: "duration"
    case .end: "end"
    case .signal: "signal"
    case .key, .request: "key"
    case .device: "device"
    case .disk: "disk"
    case .silence: "silence"
    }
  }

  /// The failure that is the reason; nil if the reason is not a failure.
  var failure: DeviceFailure? {
    if case .device(let failure) = self { return failure }
    return nil
  }
}
