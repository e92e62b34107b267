import AudioBasics
import AudioFiles
import Testing

@testable import AudioSessions

/// Tests of the last frames of a track before audio of another rate.
@Suite struct TrackJoinTests {
  /// Reads `track` at 48 kHz until it holds its last frames back, or ends.
  private func rest(of track: TrackReader) throws -> [Float] {
    var buffer = SampleBuffer(frameCount: 1024, channelCount: 2)
    var heard: [Float] = []
    while true {
      let count = try track.read(into: &buffer, frames: 1024)
      guard count > 0 else { return heard }
      for frame in 0..<count { heard.append(buffer[frame, 0]) }
    }
  }

  @Test func `the end of a track does not depend on what was played before a seek`() throws {
    let file = try CountedFile(frames: 44100, sampleRate: 44100)
    var ends: [[Float]] = []
    for playsBefore in [false, true] {
      let track = try TrackReader(path: file.path, sampleRate: 48000, channelCount: 2)
      track.isFollowed = true
      if playsBefore {
        var buffer = SampleBuffer(frameCount: 1024, channelCount: 2)
        #expect(try track.read(into: &buffer, frames: 1024) == 1024)
      }
      try track.begin(track.settings, at: 44000)
      var end = try rest(of: track)
      #expect(track.holdsTail)
      track.flushTail(beforeSound: true)
      end += try rest(of: track)
      ends.append(end)
    }
    #expect(ends[0].count == 109 && ends[0] == ends[1])
  }
}
