import AudioDevices

/// Reports devices that are unplugged and return.
struct DeviceEvents {
  let configuration: DuplexConfiguration
  /// Whether sentences are suppressed, so that only events are emitted.
  let quiet: Bool
  let verbose: Bool

  private var name: String { configuration.deviceNames }
  /// The direction, or the directions, in which the unit uses its device.
  private var unitDirection: Direction {
    switch (configuration.capture, configuration.playback) {
    case (.some, nil): .capture
    case (nil, .some): .playback
    default: .both
    }
  }
  private var inputName: String { configuration.capture?.device ?? name }
  private var outputName: String { configuration.playback?.device ?? name }

  private func secondaryName(_ event: TimelineEvent) -> String {
    guard let index = event.outputIndex, configuration.secondaryOutputs.indices.contains(index)
    else { return name }
    return configuration.secondaryOutputs[index].device
  }

  /// Reports `event`; returns false if it does not concern the device.
  func emit(_ event: TimelineEvent) -> Bool {
    switch event.kind {
    case .deviceLost: lost(unitDirection, name, event, "; waiting until it returns")
    case .captureLost: lost(.capture, inputName, event, "; the output continues")
    case .playbackLost: lost(.playback, outputName, event, "; the input continues")
    case .secondaryOutputLost: lost(.playback, secondaryName(event), event, "")
    case .deviceReturned: returned(unitDirection, name, event)
    case .captureReturned: returned(.capture, inputName, event)
    case .playbackReturned: returned(.playback, outputName, event)
    case .secondaryOutputReturned: returned(.playback, secondaryName(event), event)
    case .deviceAbsent: absent(unitDirection, name)
    case .captureAbsent: absent(.capture, inputName)
    case .playbackAbsent: absent(.playback, outputName)
    case .captureXrun, .playbackXrun, .overflow: return false
    }
    return true
  }

  /// The direction in which the session uses a device.
  private enum Direction: String {
    case both, capture, playback

    var noun: String {
      switch self {
      case .both: "device"
      case .capture: "input"
      case .playback: "output"
      }
    }
  }

  private func lost(
    _ direction: Direction, _ name: String, _ event: TimelineEvent, _ rest: String
  ) {
    let fields: Fields = [
      "state": "lost", "device": name, "direction": direction.rawValue, "frame": event.frame,
    ]
    say(
      "the \(direction.noun) \(name) went away at frame \(event.frame)\(rest).",
      Event("device", fields))
  }

  private func returned(_ direction: Direction, _ name: String, _ event: TimelineEvent) {
    let frames = event.frames
    let seconds = configuration.seconds(frames).shown(2)
    let loss = frames == 0 ? "" : "; \(seconds) s (\(frames.counted("frame"))) were lost"
    let fields: Fields = [
      "state": "returned", "device": name, "direction": direction.rawValue, "frame": event.frame,
      "frames": frames,
    ]
    say("the \(direction.noun) \(name) is back\(loss).", Event("device", fields))
  }

  private func absent(_ direction: Direction, _ name: String) {
    warn("deviceAbsent", "The \(direction.noun) \(name) did not come back before the end.")
  }

  /// Emits the event in JSON mode, and prints the sentence in both modes.
  private func say(_ sentence: String, _ event: Event) {
    if OutputMode.current.json { Terminal.emit(event) }
    if !quiet { Terminal.say("duplex: \(sentence)") }
  }

  /// Reports the result of the search for a device that was unplugged.
  func emit(_ found: DeviceReturn) {
    switch found {
    case .refused(let failure):
      Notice.warning(ToolFailure(failure)).report()
    case .returned(let cards) where verbose && !cards.isEmpty:
      let numbers = cards.map { "\($0)" }.joined(separator: " and ")
      inform("deviceFound", "the device \(name) was found again, as card \(numbers).")
    case .returned, .absent: break
    }
  }
}
