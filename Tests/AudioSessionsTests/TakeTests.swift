import AudioBasics
import AudioClocks
import AudioFiles
import Glibc
import RealtimeAudio
import Testing

@testable import AudioSessions

/// What of a tape goes into the file.
@Suite struct TakeTests {
  @Test(arguments: [
    (0, 10, 5..<10), (0, 5, 5..<5), (5, 10, 0..<10), (12, 10, 0..<3), (15, 10, 0..<0),
    (0, 40, 5..<15),
  ])
  func `a window takes its part of each piece`(position: Int, count: Int, part: Range<Int>) {
    let window = TakeWindow(firstFrame: 5, frames: 10)
    #expect(window.part(of: position, frames: count).count == part.count)
    if !part.isEmpty { #expect(window.part(of: position, frames: count) == part) }
  }

  @Test func `a window without an end takes all from its beginning on`() {
    #expect(TakeWindow().part(of: 7, frames: 3) == 0..<3)
    #expect(TakeWindow(firstFrame: 8).part(of: 7, frames: 3) == 1..<3)
  }

  @Test(arguments: [false, true])
  func `a take begins where its window does, gaps in place`(isShifted: Bool) throws {
    let path = "/tmp/duplex-take-\(UInt64.random(in: 0..<UInt64.max)).wav"
    defer { unlink(path) }
    var tape = SampleWriter(frameCount: 1000, channelCount: 1)
    var gaps = EventWriter()
    let delay = isShifted ? FrameShift.delayFrames : 0
    let saver = TapeSaver(
      tape: tape.makeReader(), gaps: gaps.makeReader(),
      writer: try SoundFileWriter(
        path: path, fileFormat: .wav, sampleFormat: .float, sampleRate: 48000, channelCount: 1,
        overwrite: false),
      sampleRate: 48000, channelCount: 1, window: TakeWindow(firstFrame: 100 + delay, frames: 300),
      shift: isShifted ? FrameShift(fraction: 0, channelCount: 1) : nil)
    var frames = SampleBuffer(frameCount: 600, channelCount: 1)
    for index in 0..<600 { frames[index] = Float(index + 1) / 1024 }
    // Frames 200 to 249 of the unit's timeline are lost.
    _ = tape.write(frames, frames: 200)
    _ = gaps.write(TimelineEvent(kind: .captureXrun, frame: 200, frames: 50))
    _ = tape.write(frames, from: 250, frames: 350)
    tape.finish()
    while saver.step() {}
    #expect(saver.report.frames == 300)
    #expect(saver.report.gaps == [RecordingGap(frame: 100, frames: 50)])
    var file = try SoundFileReader(path: path)
    var saved = SampleBuffer(frameCount: 400, channelCount: 1)
    let count = try file.read(into: &saved)
    #expect(count == 300)
    for index in 0..<300 where !(60..<190).contains(index) || !isShifted {
      let wanted = (100..<150).contains(index) ? 0 : Float(index + 101) / 1024
      #expect(abs(saved[index] - wanted) < 1e-4)
    }
  }
}
