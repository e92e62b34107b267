import AudioSessions
import RealtimeAudio

/// The key that sets markers in a take, and the messages of the thread that writes the take.
final class TakeKeys: KeyResponder {
  private let writer: RecordingWriter
  private let messages: RecordingMessages
  private let captureDevice: String
  /// The frame in the file of the take at which the recording begins.
  private let firstFrame: Int
  private var count = 0

  /// The remedy for a disk that stalls: the ring buffer of a take has a fixed length.
  static let stallRemedy = "Record TAKE to a faster disk."

  /// Creates the keys for a recording of `captureDevice` by `writer` according to `plan`. It begins
  /// at `firstFrame` of the take.
  init(
    _ writer: RecordingWriter, _ plan: RecordingPlan, from captureDevice: String, firstFrame: Int
  ) {
    self.writer = writer
    self.captureDevice = captureDevice
    self.firstFrame = firstFrame
    messages = RecordingMessages(plan, stallRemedy: Self.stallRemedy)
  }

  var bindings: [KeyBinding] { KeyBindings.take }

  func perform(_ action: KeyAction, at frame: Int) {
    guard action == .setMarker else { return }
    count += 1
    writer.control.request(.mark("Marker \(count)"), at: frame)
  }

  /// Reports the events of the writer that the user must know.
  func poll() {
    for event in writer.events.take() {
      switch event {
      case .marker(var marker):
        marker.frame += firstFrame
        messages.report(.marker(marker))
      case .overflow, .diskLow, .warning, .unsetMarker, .renamed: messages.report(event)
      case .onlySilence: SilenceSearch.notice(of: captureDevice, within: 300).report()
      default: break
      }
    }
  }
}
