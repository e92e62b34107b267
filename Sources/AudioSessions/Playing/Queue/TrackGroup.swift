import AudioBasics
import AudioFiles

/// Several tracks in step: all added up, or one of them heard at a time, to compare them. Times are
/// those of the first. It ends when the last that is heard does.
final class TrackGroup: QueueSource {
  private let tracks: [Track]
  /// Which of the item's parts each track is.
  private let numbers: [Int]
  /// Parts that could not be opened, which nobody has been told yet.
  private var unopened: [PartFailure]
  private let mix: TrackMix
  /// Where another is to be heard, and which.
  private var asked: (boundary: Int?, index: Int)?
  /// Frames until then, once it is clear.
  private var choice: (frames: Int, index: Int)?

  /// `tracks`, which are the parts `numbers` of an item: all of them, or only the part `chosen`.
  /// `failures` say what became of the other parts.
  init(
    _ tracks: [Track], numbers: [Int], failures: [PartFailure], channelCount: Int,
    chosen: Int? = nil
  ) {
    self.tracks = tracks
    self.numbers = numbers
    unopened = failures
    mix = TrackMix(tracks, channelCount: channelCount)
    mix.chosen = chosen.map { numbers.firstIndex(of: $0) ?? 0 }
  }

  var decoders: [any SoundDecoder] { tracks.map(\.decoder) }
  var settings: TrackSettings { tracks[0].settings }
  var way: TrackWay { tracks[0].way }

  /// Lets the part with the number `index` be heard as soon as the next frame is read, or where the
  /// first one's file comes to `boundary`. The others are read on and let go: they stay in step.
  func choose(_ index: Int, atBoundary boundary: Int? = nil) {
    guard mix.chosen != nil, let place = numbers.firstIndex(of: index) else { return }
    asked = (boundary, place)
  }

  func begin(_ settings: TrackSettings, at place: Double) throws(FileFailure) {
    let rate = Double(tracks[0].decoder.sampleRate)
    for track in tracks {
      let scale = Double(track.decoder.sampleRate) / rate
      func scaled(_ frame: Int) -> Int {
        min(Int(rounding: Double(frame) * scale), PlayPath.mostFrames)
      }
      var own = track.settings
      own.order = PlayOrder(
        startFrame: scaled(settings.order.startFrame),
        endFrame: settings.order.endFrame.map(scaled), times: settings.order.times,
        isReversed: settings.order.isReversed)
      own.speed = settings.speed
      try track.begin(own, at: place * scale)
    }
    choice = asked.map { asked in
      (asked.boundary.flatMap { way.frames(until: $0) } ?? 0, asked.index)
    }
    asked = nil
  }

  func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    if let due = choice, due.frames == 0 {
      mix.chosen = due.index
      choice = nil
    }
    let count = try mix.read(into: &buffer, frames: min(frames, choice?.frames ?? .max))
    choice = choice.map { ($0.frames - count, $0.index) }
    return count
  }

  func takeFailures() -> [PartFailure] {
    defer { unopened = [] }
    return unopened
      + mix.takeFailures().map { PartFailure(name: tracks[$0.index].path, failure: $0.failure) }
  }

  // Sounds at once neither hold back frames nor take over a converter.
  var isFollowed = false
  var followsSound = false
  var isHolding: Bool { false }
  var endFrame: Int { 0 }
  func release(beforeSound: Bool) {}
}
