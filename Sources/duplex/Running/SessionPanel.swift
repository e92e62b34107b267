import AudioDevices
import AudioSessions
import RealtimeAudio

/// Draws the screen of a running session.
final class SessionPanel {
  /// The shortest time between two pictures, for 20 pictures per second.
  private static let minimumNanoseconds: UInt64 = 45_000_000

  private let configuration: DuplexConfiguration
  private let parts: SessionParts
  private let duration: Int?
  private let keys: () -> [String]
  private var meter = MeterBallistics()
  private var load = LoadAverage()
  /// The time in seconds at which the recording began; nil while it waits.
  private var recordingStart: Double?
  private var drawn: UInt64 = 0
  /// The unplugged devices that are waited for.
  private var missingDevices: Set<MissingDevice> = []

  private enum MissingDevice: String, CaseIterable {
    case device, input, output
  }

  /// Creates the panel for a session of `parts` that runs for `duration` frames. `keys` returns the
  /// hints for the keys.
  init(
    _ configuration: DuplexConfiguration, _ parts: SessionParts, duration: Int?,
    keys: @escaping () -> [String]
  ) {
    self.configuration = configuration
    self.parts = parts
    self.duration = duration
    self.keys = keys
  }

  /// Processes a snapshot, and draws a picture if the last one is old enough.
  func draw(_ snapshot: SessionSnapshot) {
    let seconds = configuration.seconds(snapshot.frames)
    for reading in snapshot.readings { meter.follow(reading, seconds: seconds) }
    load.follow(
      snapshot, seconds: seconds, periodSeconds: configuration.seconds(configuration.periodFrames))
    for event in snapshot.events { follow(event) }
    if missingDevices.contains(.device) { meter.fall() }
    let now = HostClock.nanoseconds
    guard now &- drawn >= Self.minimumNanoseconds else { return }
    drawn = now
    var state = LiveState()
    if let playState = parts.playState {
      guard let playing = playState() else { return Terminal.redraw("") }
      state = playing
    } else {
      show(seconds: seconds, on: &state)
    }
    state.device = configuration.summary(
      addedFrames: (snapshot.drift?.addedFrames ?? 0) + (parts.protection?.delayFrames ?? 0))
    state.states += parts.keys.flatMap(\.states)
    // The space for the meters is reserved, so that nothing moves at the first reading.
    if meter.peaks.isEmpty, parts.task?.progress() == nil, showsLevels {
      meter = MeterBallistics(channelCount)
    }
    (state.peaks, state.means) = (meter.peaks, meter.means)
    (state.holds, state.clips) = (meter.holds, meter.clips)
    // Without a device there is no load to show.
    state.load = missingDevices.contains(.device) ? nil : load.value ?? .nan
    state.states += MissingDevice.allCases.filter(missingDevices.contains).map {
      "waiting for the \($0.rawValue)"
    }
    state.xruns = snapshot.captureXruns + snapshot.playbackXruns
    state.lostFrames = snapshot.lostFrames
    state.keys = keys()
    Terminal.redraw(
      LiveScreen.current.lines(state).map { $0.drawn(hasColour: Terminal.hasColour) })
  }

  private func follow(_ event: TimelineEvent) {
    switch event.kind {
    case .deviceLost: missingDevices.insert(.device)
    case .captureLost: missingDevices.insert(.input)
    case .playbackLost: missingDevices.insert(.output)
    case .deviceReturned: missingDevices.remove(.device)
    case .captureReturned: missingDevices.remove(.input)
    case .playbackReturned: missingDevices.remove(.output)
    case .captureXrun, .playbackXrun, .overflow, .deviceAbsent, .captureAbsent,
      .playbackAbsent, .secondaryOutputLost, .secondaryOutputReturned:
      break
    }
  }

  /// The number of measured channels.
  private var channelCount: Int {
    (parts.playState == nil ? configuration.capture : configuration.playback)?.channelCount ?? 0
  }

  /// Whether levels are shown.
  private var showsLevels: Bool { parts.recording?.measuresLevels != false }

  /// Adds the state of a recording, a measurement or monitoring to `live`.
  private func show(seconds: Double, on live: inout LiveState) {
    let recording = parts.recording
    let state = recording?.state
    live.title = recording?.title ?? parts.task?.title ?? "Monitoring"
    live.levels = showsLevels ? state?.levels : nil
    if !showsLevels { live.states = ["levels off"] }
    live.diskSeconds = state?.secondsLeft
    if state?.isOpen != false { recordingStart = recordingStart ?? seconds }
    if let progress = parts.task?.progress() {
      live.clock = ClockTime(seconds, showsTenths: true).text
      (live.left, live.fraction) = (progress.text, progress.fraction)
    } else if state?.isOpen == false {
      live.clock = recording?.isWaiting == true ? "waiting for the start" : "waiting for a voice"
    } else {
      let start =
        parts.task.map { configuration.seconds($0.firstFrame) } ?? recordingStart ?? seconds
      guard seconds >= start else {
        live.clock = "begins in " + ClockTime(start - seconds, showsTenths: true).text
        return
      }
      let paused = configuration.seconds(recording?.pausedFrames ?? 0)
      let passed = seconds - start - paused
      live.clock = ClockTime(passed, showsTenths: true).text
      // Before, the silence before the start would count as well.
      if passed < 3 { live.levels?.shortTermLUFS = nil }
      if let frames = parts.task?.frames ?? duration {
        live.left = ClockTime(max(0, configuration.seconds(frames) - passed)).text + " left"
      }
    }
  }
}

extension DuplexConfiguration {
  /// Returns the granted configuration in one line: device, rate, channels, format, latency.
  /// `addedFrames` is the latency that the steps of a server and a limiter with look-ahead add.
  fileprivate func summary(addedFrames: Int) -> String {
    let streams = [capture, playback].compactMap { $0 }
    func listed(_ values: [String]) -> String {
      values.count == 2 && values[0] != values[1]
        ? values.joined(separator: " to ") : values.first ?? ""
    }
    let channels = listed(streams.map { String($0.channelCount) })
    let milliseconds = (latencyFrames + Double(addedFrames)) * 1000 / Double(sampleRate)
    let latency =
      streams.count == 2
      ? "latency \(milliseconds.shown(1)) ms"
      : "period \((seconds(periodFrames) * 1000).shown(1)) ms"
    return [
      listed(streams.map(\.device)), "\(sampleRate) Hz",
      channels + (channels == "1" ? " channel" : " channels"), listed(streams.map(\.format.name)),
      latency,
    ].joined(separator: ", ")
  }
}
