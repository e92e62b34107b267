import AudioSessions
import RealtimeAudio

/// The key that sets markers in a take, and what else its disk thread tells meanwhile.
final class TakeKeys: KeyResponder {
  private let writer: RecordingWriter
  private let messages: RecordingMessages
  private let captureDevice: String
  /// Where in the take's file the recording begins.
  private let firstFrame: Int
  private var count = 0

  /// For what `writer` records from `captureDevice` as `plan` says, which begins at `firstFrame` of
  /// the take.
  init(
    _ writer: RecordingWriter, _ plan: RecordingPlan, from captureDevice: String, firstFrame: Int
  ) {
    self.writer = writer
    self.captureDevice = captureDevice
    self.firstFrame = firstFrame
    messages = RecordingMessages(plan)
  }

  var bindings: [KeyBinding] { KeyBindings.take }

  func perform(_ action: KeyAction, at frame: Int) {
    guard action == .setMarker else { return }
    count += 1
    writer.remote.ask(.mark("Marker \(count)"), at: frame)
  }

  /// Tells what happened that a person should know.
  func poll() {
    for event in writer.events.take() {
      switch event {
      case .marker(var marker):
        marker.frame += firstFrame
        messages.tell(.marker(marker))
      case .diskLow, .warning: messages.tell(event)
      case .onlySilence: SilenceSearch.notice(of: captureDevice, within: 300).report()
      default: break
      }
    }
  }
}
