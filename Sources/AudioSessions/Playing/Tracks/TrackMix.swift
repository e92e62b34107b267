import AudioBasics
import AudioFiles
import Glibc

/// The sum of several sources. It ends when the last of the audible sources ends; a source that
/// fails does not end the others.
public final class TrackMix: FrameSource {
  private let sources: [any FrameSource]
  private var part: SampleBuffer
  /// The index of the audible source, while the others are read and discarded; nil if all are
  /// audible.
  var chosen: Int?
  /// The failures of sources that ended early since the last call of `takeFailures`, with the
  /// indices of the sources.
  private var failures: [(index: Int, failure: FileFailure)] = []
  /// Whether each source has failed, by its index.
  private(set) var hasFailed: [Bool]

  /// Creates the sum of `sources`.
  public init(_ sources: [any FrameSource], channelCount: Int) {
    self.sources = sources
    hasFailed = Array(repeating: false, count: sources.count)
    part = SampleBuffer(frameCount: 1024, channelCount: channelCount)
  }

  /// Returns the failures since the last call, with the indices of the sources that failed.
  public func takeFailures() -> [(index: Int, failure: FileFailure)] {
    defer { failures = [] }
    return failures
  }

  /// The sum of the counts of its sources.
  public var nonFiniteCount: Int { sources.reduce(0) { $0 + $1.nonFiniteCount } }

  /// Fills the start of `buffer` and returns the number of frames; 0 at the end. Throws nothing:
  /// the failures of its sources are in `takeFailures`.
  public func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
    let wanted = min(frames, part.frameCount)
    buffer.clear(frames: wanted)
    var longest = 0
    // The audible source is read first: if it fails, the next one has not advanced yet.
    var audible = chosen
    while let index = audible {
      if let count = readPart(of: index, frames: wanted) {
        buffer.add(part, frames: count)
        longest = count
        break
      }
      audible = chosen
    }
    for index in sources.indices where index != audible && !hasFailed[index] {
      guard let count = readPart(of: index, frames: wanted), chosen == nil else { continue }
      buffer.add(part, frames: count)
      longest = max(longest, count)
    }
    return longest
  }

  /// Reads the next frames of a source into `part`. Returns their number; nil if it has failed,
  /// after which another source is audible in its place.
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
