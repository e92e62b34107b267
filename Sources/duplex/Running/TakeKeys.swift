import AudioSessions
import RealtimeAudio

/// The key that sets markers in a take, and what else its disk thread tells meanwhile.
final class TakeKeys: KeyResponder {
  private let writer: RecordingWriter
  private let messages: RecordingMessages
  private let captureDevice: String
  private let marks: Bool
  private var count = 0

  /// For a take that `writer` records from `captureDevice`. Markers are set where its file `keepsMarkers`.
  init(
    _ writer: RecordingWriter, from captureDevice: String, sampleRate: Int, keepsMarkers: Bool
  ) {
    self.writer = writer
    self.captureDevice = captureDevice
    marks = keepsMarkers
    messages = RecordingMessages(sampleRate: sampleRate)
  }

  var bindings: [KeyBinding] { marks ? KeyBindings.take : [] }

  func perform(_ action: KeyAction, at frame: Int) {
    guard action == .setMarker else { return }
    count += 1
    writer.remote.ask(.mark("Marker \(count)"), at: frame)
  }

  /// Tells what happened that a person should know.
  func poll() {
    for event in writer.events.take() {
      switch event {
      case .marker, .diskLow, .warning: messages.tell(event)
      case .onlySilence: SilenceSearch.notice(of: captureDevice, within: 300).report()
      default: break
      }
    }
  }
}
