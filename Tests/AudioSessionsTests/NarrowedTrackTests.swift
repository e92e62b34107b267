import AudioBasics
import AudioFiles
import Testing

@testable import AudioSessions

/// Tests of tracks of which only a part is read, and of tracks for units that no device has.
@Suite struct NarrowedTrackTests {
  /// A decoder of the numbers from 0 to 999.
  private final class Numbers: PlainSoundDecoder {
    let name = "numbers"
    let sampleRate = 48000
    let channelCount = 1
    let frameCount: Int? = 1000
    let supportsSeeking: Bool
    private(set) var position = 0

    init(supportsSeeking: Bool = true) { self.supportsSeeking = supportsSeeking }

    func read(into buffer: inout SampleBuffer, at target: Int, frames: Int) -> Int {
      let count = min(frames, 1000 - position)
      for frame in 0..<count { buffer[target + frame] = Float(position + frame) }
      position += count
      return count
    }

    func seek(toFrame frame: Int) { position = frame }
  }

  private func track(
    _ settings: TrackSettings = TrackSettings(), supportsSeeking: Bool = true, rate: Int = 48000
  ) throws(FileFailure) -> TrackReader {
    try TrackReader(
      Numbers(supportsSeeking: supportsSeeking), sampleRate: rate, channelCount: 1,
      settings: settings)
  }

  /// Returns all frames of `track`.
  private func frames(of track: TrackReader) throws -> [Float] {
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    var frames: [Float] = []
    while true {
      let count = try track.read(into: &buffer, frames: 64)
      if count == 0 { return frames }
      frames += [Float](buffer).prefix(count)
    }
  }

  @Test(arguments: [true, false], [Int.min, -1, 0, 1, 997, 999, 1000, 1001, .max])
  func `a track from any frame on has the frames after it`(
    supportsSeeking: Bool, start: Int
  ) throws {
    let track = try track(supportsSeeking: supportsSeeking)
    try track.narrow(from: start, frames: nil)
    let all = (0..<1000).map { Float($0) }
    #expect(try frames(of: track) == Array(all.dropFirst(min(1000, max(0, start)))))
  }

  @Test(arguments: [-1, 0, 1, 10, Int.max])
  func `a narrowed track has at most that many frames`(count: Int) throws {
    let track = try track()
    try track.narrow(from: 995, frames: count)
    #expect(try frames(of: track).count == min(5, max(0, count)))
  }

  @Test func `a narrowed track of a range counts from the beginning of the range`() throws {
    let settings = TrackSettings(range: PlaybackRange(startFrame: 100, endFrame: 104, times: 2))
    let track = try track(settings)
    try track.narrow(from: 3, frames: 3)
    #expect(try frames(of: track) == [103, 100, 101])
    let reversed = try self.track(TrackSettings(range: PlaybackRange(isReversed: true)))
    try reversed.narrow(from: 998, frames: nil)
    #expect(try frames(of: reversed) == [1, 0])
  }

  private static let impossible: [(Int, Int, String)] = [
    (0, 5, "0 Hz"), (-1, 5, "-1 Hz"), (.max, 5, "\(Int.max) Hz"), (44100, 99, "99"),
  ]

  @Test(arguments: impossible)
  func `a failure names the rate or the quality that is not possible`(
    rate: Int, quality: Int, fault: String
  ) {
    for speed in [1.0, 0.5] where quality == 5 || speed == 1 {
      var settings = TrackSettings(resamplerQuality: quality)
      settings.speed = speed
      do throws(FileFailure) {
        _ = try track(settings, rate: rate)
        Issue.record("There is a track.")
      } catch {
        #expect(error.message.contains(fault) && !error.message.contains("48000"))
        #expect(!error.hint.contains("sox"))
      }
    }
  }
}
