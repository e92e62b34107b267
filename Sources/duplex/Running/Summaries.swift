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
    func name(_ stream: StreamConfiguration?) -> JSON {
      stream.map { .string($0.device) } ?? .null
    }
    func format(_ stream: StreamConfiguration?) -> JSON {
      stream.map { .string($0.format.name) } ?? .null
    }
    return Event(
      "started",
      [
        ("captureDevice", name(capture)),
        ("playbackDevice", name(playback)),
        ("sampleRate", .integer(configuration.sampleRate)),
        ("captureChannels", .integer(capture?.channelCount ?? 0)),
        ("playbackChannels", .integer(playback?.channelCount ?? 0)),
        ("captureFormat", format(capture)),
        ("playbackFormat", format(playback)),
        ("periodFrames", .integer(configuration.periodFrames)),
        ("periods", .integer(configuration.periods)),
        ("headroomFrames", .integer(configuration.headroomFrames)),
        ("realtimePriority", .integer(granted?.number ?? 0)),
        ("linked", .bool(configuration.isLinked)),
        ("resampling", .bool(configuration.isResampling)),
        ("profile", .bool(followsProfile)),
        ("master", configuration.master.map { .string($0.rawValue) } ?? .null),
        ("defaults", .array(DefaultOption.current.map(\.json))),
      ] + channels("captureDeviceChannels", of: capture)
        + channels("playbackDeviceChannels", of: playback)
        + (configuration.further.isEmpty ? [] : [("alsoPlay", configuration.furtherStreams())]))
  }

  /// Which of a device's channels are used, where these are not all of them.
  private static func channels(_ name: String, of stream: StreamConfiguration?) -> [(String, JSON)]
  {
    guard let selection = stream?.selection else { return [] }
    return [(name, .array(selection.channels.map { .integer($0) }))]
  }
}

extension JSON {
  /// Xruns by direction.
  static func xruns(capture: Int, playback: Int) -> JSON {
    .object(["capture": .integer(capture), "playback": .integer(playback)])
  }

  /// The files that were written, as far as they are there: `path` as well where it is one.
  static func written(_ paths: [String]) -> [(String, JSON)] {
    let paths = paths.filter { FileRemoval.byteCount(of: $0) != nil }.map { JSON.string($0) }
    let all = [("paths", JSON.array(paths))]
    return paths.count > 1 ? all : all + [("path", paths.first ?? .null)]
  }

  /// A file that was written; null where it is not there.
  static func written(_ path: String) -> JSON {
    FileRemoval.byteCount(of: path) == nil ? .null : .string(path)
  }

  /// What every command's summary has. `overflowFrames` were captured and found no room on the way
  /// to disk.
  static func summary(
    of command: String, _ report: SessionReport, _ configuration: DuplexConfiguration,
    gaps: [RecordingGap]? = nil, overflowFrames: Int = 0
  ) -> [(String, JSON)] {
    let gaps = gaps.map(report.gaps(adding:)) ?? report.gaps
    return [
      ("command", .string(command)),
      ("seconds", .number(Double(report.frames) / Double(configuration.sampleRate))),
      ("frames", .integer(report.frames)), ("sampleRate", .integer(configuration.sampleRate)),
      ("xruns", .xruns(capture: report.captureXruns, playback: report.playbackXruns)),
      ("lostFrames", .integer(report.lostFrames + overflowFrames)),
      (
        "gaps",
        .array(
          gaps.map {
            .object(["frame": .integer($0.frame), "frames": .integer($0.frames)])
          })
      ),
      (
        "load",
        .object(["mean": .rounded(report.loadMean, 5), "max": .rounded(report.loadMax, 5)])
      ),
      ("stoppedBy", .string(report.stopReason.name)),
    ] + (report.drift.map { [("drift", JSON.fields($0.members))] } ?? [])
      + (configuration.further.isEmpty
        ? [] : [("alsoPlay", configuration.furtherStreams(report.further))])
  }
}

extension SessionReport {
  /// What was lost, where nothing was recorded.
  fileprivate var gaps: [RecordingGap] {
    events.filter {
      $0.frames > 0 && $0.kind != .furtherLost && $0.kind != .furtherReturned
    }.map { RecordingGap(frame: $0.frame, frames: $0.frames) }
  }

  /// What was lost of a recording: its own gaps, and what was silence because the input was away.
  fileprivate func gaps(adding recorded: [RecordingGap]) -> [RecordingGap] {
    let silent = events.filter { $0.kind == .captureReturned || $0.kind == .captureAbsent }
      .map { RecordingGap(frame: $0.frame, frames: $0.frames) }
    let others = recorded.filter { gap in
      !silent.contains { $0.frame <= gap.frame && gap.frame <= $0.frame + $0.frames }
    }
    return (others + silent).sorted { $0.frame < $1.frame }
  }
}

extension DriftReading {
  /// The contract's figures.
  var members: [(String, JSON)] {
    [
      ("ppm", .rounded(ppm, 3)), ("errorFrames", .rounded(errorFrames, 3)),
      ("relocks", .integer(relocks)), ("addedFrames", .integer(addedFrames)),
    ]
  }
}

extension DuplexConfiguration {
  /// The further outputs, with how each does where that is known.
  func furtherStreams(_ readings: [SecondaryOutputReading] = []) -> JSON {
    .array(
      further.enumerated().map { index, stream in
        var members: [(String, JSON)] = [
          ("device", .string(stream.device)), ("sampleRate", .integer(stream.sampleRate)),
          ("latencyFrames", .rounded(stream.latencyFrames, 3)),
        ]
        if readings.indices.contains(index) {
          members.append(("drift", .fields(readings[index].drift.members)))
          members.append(("xruns", .xruns(capture: 0, playback: readings[index].xruns)))
        }
        return .fields(members)
      })
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

extension DuplexConfiguration {
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
      + further.map {
        " \($0.device) (\($0.sampleRate) Hz) plays the same \($0.latencyFrames.shown(1)) frames later."
      }.joined()
  }
}

extension Double {
  /// With `digits` digits behind the point, for a person.
  func shown(_ digits: Int) -> String {
    isFinite ? JSON.rounded(self, digits).text : isNaN ? "no number" : "infinite"
  }
}
