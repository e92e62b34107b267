import AudioSessions

/// The parts of a session in addition to its device, its callbacks and its meter.
struct SessionParts {
  /// The background work of the command; that of the device is separate.
  var background: [any BackgroundWork] = []
  /// The maximum length of the session in frames; nil if the options determine it.
  var frameLimit: Int?
  /// The responders to the keys of the command, in the order of their hints.
  var commandKeys: [any KeyResponder] = []
  /// The watch of the recording; nil if nothing is recorded.
  var recording: RecordingWatch?
  /// The protection of the output; nil if no microphone is played.
  var protection: MonitorProtectionDisplay?
  /// Whether the session waits for a device that is unplugged.
  var reconnects = false
  /// The function that returns the state of the files that play, or nil while none plays or is
  /// opened; nil if playing them is not the task of the command.
  var playState: (() -> LiveState?)?
  /// The task that the screen shows; nil for a plain recording.
  var task: LiveTask?
  /// The work of the command at each snapshot; it returns the reason to stop, or nil to continue.
  var poll: (SessionSnapshot) -> StopReason? = { _ in nil }

  /// The responders to keys, in the order of their hints; the last one that binds a key handles it.
  var keys: [any KeyResponder] {
    let shared: [(any KeyResponder)?] = [recording, protection]
    return commandKeys + shared.compactMap { $0 }
  }
}
