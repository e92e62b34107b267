import AudioBasics
import AudioFiles
import Glibc

/// Several sources at once, added up. It ends when the last of them that is heard does; one that
/// fails does not end the others.
public final class TrackMix: FrameSource {
  private let sources: [any FrameSource]
  private var part: SampleBuffer
  /// The one that is heard, while the others are read and let go; nil for all.
  var chosen: Int?
  /// Why sources ended early, by their places: those that failed since the last call of
  /// `takeFailures`.
  private var failures: [(index: Int, failure: FileFailure)] = []
  /// Whether each source has failed, by its place.
  private(set) var hasFailed: [Bool]

  /// The sum of `sources`.
  public init(_ sources: [any FrameSource], channelCount: Int) {
    self.sources = sources
    hasFailed = Array(repeating: false, count: sources.count)
    part = SampleBuffer(frameCount: 1024, channelCount: channelCount)
  }

  /// The sources that have failed since the last call, by their places, and why.
  public func takeFailures() -> [(index: Int, failure: FileFailure)] {
    defer { failures = [] }
    return failures
  }

  /// As those of its sources.
  public var nonFiniteCount: Int { sources.reduce(0) { $0 + $1.nonFiniteCount } }

  /// Fills the start of `buffer` and returns how many frames it got; 0 at the end.
  /// Throws what its tracks throw.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let wanted = min(frames, part.frameCount)
    buffer.clear(frames: wanted)
    var longest = 0
    // The one that is heard comes first: where it fails, the next one has not moved on yet.
    var heard = chosen
    while let index = heard {
      if let count = readPart(of: index, frames: wanted) {
        buffer.add(part, frames: count)
        longest = count
        break
      }
      heard = chosen
    }
    for index in sources.indices where index != heard && !hasFailed[index] {
      guard let count = readPart(of: index, frames: wanted), chosen == nil else { continue }
      buffer.add(part, frames: count)
      longest = max(longest, count)
    }
    return longest
  }

  /// Reads the next frames of a source into `part`. Answers with their number; with nil where it
  /// has failed, in whose place another one is heard.
  private func readPart(of index: Int, frames: Int) -> Int? {
    do throws(FileFailure) {
      if !hasFailed[index] { return try sources[index].read(into: &part, frames: frames) }
    } catch {
      failures.append((index, error))
      hasFailed[index] = true
    }
    if chosen == index { chosen = hasFailed.firstIndex(of: false) }
    return nil
  }
}
