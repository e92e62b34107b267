import AudioBasics
import AudioFiles

/// Several tracks in step: all added up, or one of them heard at a time, to compare them. Times are
/// those of the first. It ends when the last that is heard does.
final class TrackGroup: QueueSource {
  private let tracks: [Track]
  private let mix: TrackMix
  /// Where another is to be heard, and which.
  private var asked: (boundary: Int?, index: Int)?
  /// Frames until then, once it is clear.
  private var choice: (frames: Int, index: Int)?

  /// `tracks`, all of them or only the one with the number `chosen`.
  init(_ tracks: [Track], channelCount: Int, chosen: Int? = nil) {
    self.tracks = tracks
    mix = TrackMix(tracks, channelCount: channelCount)
    mix.chosen = chosen
  }

  var decoders: [any SoundDecoder] { tracks.map(\.decoder) }
  var settings: TrackSettings { tracks[0].settings }
  var way: TrackWay { tracks[0].way }

  /// Lets the one with the number `index` be heard as soon as the next frame is read, or where the
  /// first one's file comes to `boundary`. The others are read on and let go: they stay in step.
  func choose(_ index: Int, atBoundary boundary: Int? = nil) {
    guard mix.chosen != nil, tracks.indices.contains(index) else { return }
    asked = (boundary, index)
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

  // Sounds at once neither hold back frames nor take over a converter.
  var isFollowed = false
  var followsSound = false
  var isHolding: Bool { false }
  var endFrame: Int { 0 }
  func release(beforeSound: Bool) {}
}
