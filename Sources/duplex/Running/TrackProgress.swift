import AudioFiles
import AudioSessions

/// Follows a queue as it is decoded and heard, and tells each step as an event.
final class TrackProgress {
  private enum Step: Int {
    case unknown, decoding, decoded, rendering, rendered
  }

  private let queue: TrackQueue
  private let prints: Bool
  /// Whether a person is told what plays.
  private let announces: Bool
  private var decoded: [Step] = []
  private var heard: [Step] = []
  private var lastFrame = 0

  init(_ queue: TrackQueue, _ options: AudioOptions) {
    self.queue = queue
    prints = options.json
    announces = !options.json && !options.quiet
  }

  /// The output has come to `frame`.
  func follow(_ frame: Int) {
    for (index, span) in queue.spans.enumerated() {
      if index == decoded.count {
        decoded.append(.decoding)
        heard.append(.unknown)
        tell(span, "decodingStarted", nil)
      }
      if span.isComplete, decoded[index] == .decoding {
        decoded[index] = .decoded
        tell(span, "decodingComplete", span.startFrame + span.frames)
      }
      if heard[index] == .unknown, frame > span.startFrame || (frame > 0 && span.startFrame == 0) {
        heard[index] = .rendering
        tell(span, "renderingWillStart", span.startFrame)
        tell(span, "renderingStarted", span.startFrame)
        if announces { Terminal.say(TrackTitle(span.source).text) }
      }
      if heard[index] == .rendering, span.isComplete, frame >= span.startFrame + span.frames {
        heard[index] = .rendered
        tell(span, "renderingComplete", span.startFrame + span.frames)
      }
    }
  }

  /// Everything that will be heard has been.
  func finish(_ frame: Int, failure: FileFailure?) {
    follow(frame)
    lastFrame = frame
    for (index, span) in queue.spans.enumerated() {
      if let failure, !span.isComplete {
        tell(span, "failed", nil, message: failure.message)
      } else if heard[index] == .rendering || decoded[index] == .decoding {
        tell(span, "decodingCanceled", frame)
      } else if index == queue.spans.count - 1 {
        tell(span, "endOfAudio", frame)
      }
    }
  }

  /// For the summary: what was heard of each, and where it began.
  var tracks: JSON {
    .array(
      queue.spans.filter { $0.startFrame < lastFrame || $0.frames == 0 }.map { span in
        .object([
          "source": .string(span.source),
          "frames": .integer(min(span.frames, lastFrame - span.startFrame)),
          "startFrame": .integer(span.startFrame),
        ])
      })
  }

  private func tell(_ span: TrackSpan, _ state: String, _ frame: Int?, message: String? = nil) {
    guard prints else { return }
    var fields: [(String, JSON)] = [
      ("index", .integer(span.index)), ("source", .string(span.source)), ("state", .string(state)),
    ]
    if let frame { fields.append(("frame", .integer(frame))) }
    if let message { fields.append(("message", .string(message))) }
    if state == "decodingStarted" { fields += TrackTitle(span.source).fields }
    Terminal.printLine(JSON.event("track", fields).text)
  }
}
