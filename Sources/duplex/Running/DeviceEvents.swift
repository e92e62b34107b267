import AudioDevices
import RealtimeAudio

/// Tells of a device that goes away and comes back.
struct DeviceEvents {
  private let options: AudioOptions
  private let configuration: DuplexConfiguration

  init(_ options: AudioOptions, _ configuration: DuplexConfiguration) {
    self.options = options
    self.configuration = configuration
  }

  private var name: String { configuration.deviceNames }
  private var inputName: String { configuration.capture?.device ?? name }
  private var outputName: String { configuration.playback?.device ?? name }

  private func furtherName(_ event: TimelineEvent) -> String {
    configuration.further.indices.contains(event.frames)
      ? configuration.further[event.frames].device : name
  }

  /// Tells of `event`; false where it has nothing to do with the device.
  func emit(_ event: TimelineEvent) -> Bool {
    switch event.kind {
    case .deviceLost:
      emit("lost", name, event)
      say("the device \(name) went away at frame \(event.frame) and is waited for.")
    case .captureLost:
      emit("lost", inputName, event)
      say("the input \(inputName) went away at frame \(event.frame); the output goes on.")
    case .playbackLost:
      emit("lost", outputName, event)
      say("the output \(outputName) went away at frame \(event.frame); the input goes on.")
    case .deviceReturned: tellReturn("device", name, event)
    case .captureReturned: tellReturn("input", inputName, event)
    case .playbackReturned:
      emit("returned", outputName, event, [("frames", .integer(0))])
      say("the output \(outputName) is back.")
    case .furtherLost:
      emit("lost", furtherName(event), event)
      say("the output \(furtherName(event)) went away at frame \(event.frame).")
    case .furtherReturned:
      emit("returned", furtherName(event), event, [("frames", .integer(0))])
      say("the output \(furtherName(event)) is back.")
    case .deviceAbsent: sayAbsence("device", name)
    case .captureAbsent: sayAbsence("input", inputName)
    case .playbackAbsent: sayAbsence("output", outputName)
    case .captureXrun, .playbackXrun, .overflow, .playing, .passed: return false
    }
    return true
  }

  private func tellReturn(_ noun: String, _ name: String, _ event: TimelineEvent) {
    emit("returned", name, event, [("frames", .integer(event.frames))])
    let seconds = Double(event.frames) / Double(configuration.sampleRate)
    say(
      "the \(noun) \(name) is back; \(seconds.shown(2)) s, \(event.frames) frames, were lost.")
  }

  private func sayAbsence(_ noun: String, _ name: String) {
    say("the \(noun) \(name) did not come back before the end.")
  }

  /// Tells what was found of a device that was away.
  func emit(_ found: DeviceReturn) {
    switch found {
    case .refused(let failure):
      Notice.warning(ToolFailure(failure)).report()
    case .returned(let cards) where options.verbose && !cards.isEmpty:
      let numbers = cards.map { "\($0)" }.joined(separator: " and ")
      Notice.info("deviceFound", "the device \(name) is found again, as card \(numbers).").report()
    case .returned, .absent: break
    }
  }

  private func emit(
    _ state: String, _ name: String, _ event: TimelineEvent, _ more: [(String, JSON)] = []
  ) {
    guard options.json else { return }
    let place: [(String, JSON)] = [
      ("state", .string(state)), ("device", .string(name)), ("frame", .integer(event.frame)),
    ]
    Terminal.emit(Event("device", place + more))
  }

  private func say(_ sentence: String) {
    guard !options.quiet else { return }
    Terminal.say("duplex: \(sentence)")
  }
}
