import Testing

@testable import AudioSessions

@Suite("Playback ranges of files of any stated length")
struct PlayPathTests {
  @Test(arguments: [1 << 47, 1 << 61, Int.max, -1, Int.min])
  func `no length of a file overflows for any number of passes and any rate`(frames: Int) {
    for times in [1, 4, 100_000, 1_000_000_000, Int.max] {
      for isReversed in [false, true] {
        let range = PlaybackRange(
          startFrame: 10, endFrame: .max, times: times, isReversed: isReversed)
        let path = PlayPath(range, frameCount: frames, entry: frames)
        for ratio in [8000.0 / 768_000 / 4, 1, 4 * 96.0] {
          let way = PositionMap(path: path, firstIndex: 0, ratio: ratio)
          #expect((way.frameCount ?? 0) <= 1 << 60)
          #expect((0...Double(PlayPath.maximumFrames)).contains(way.boundary(after: 0)))
        }
      }
    }
  }

  @Test func `passes whose frames cannot be counted are endless`() {
    let range = PlaybackRange(times: 1_000_000_000)
    #expect(PlayPath(range, frameCount: 48000).frameCount == 48000 * 1_000_000_000)
    #expect(PlayPath(range, frameCount: 1 << 30).frameCount == nil)
    #expect(PlayPath(PlaybackRange(times: 3), frameCount: 10).frameCount == 30)
  }
}
