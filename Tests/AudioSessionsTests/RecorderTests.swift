import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio
import SimulatedDevices
import Testing

@Suite struct RecorderTests {
  /// A microphone whose samples are the frame numbers.
  final class Counter: FrameSource {
    private var next = 0

    func read(into buffer: inout SampleBuffer, frames: Int) throws(FileFailure) -> Int {
      for frame in 0..<frames {
        buffer[frame] = Float(next % 32768) / 32768
        next += 1
      }
      return frames
    }
  }

  @Test(
    arguments: [16, 64, 256],
    [
      "", ",xrun-at=0.25,xrun-at=0.5", ",xrun-at=0,xrun-frames=7",
      // Longer than the rest of the take.
      ",xrun-at=0.5,xrun-frames=100000",
    ])
  func `every frame of a recording is at its position on the timeline`(
    period: Int, scheduledFaults: String
  )
    throws
  {
    let specification = try SimulatedDeviceSpecification(
      parsing: "sim:clock=free,channels=1" + scheduledFaults)
    var request = DuplexRequest(captureDevice: "sim", playbackDevice: nil)
    request.periodFrames = period
    request.format = .s16LE
    let source = SampleWriter(frameCount: 48000, channelCount: 1)
    let device = try SimulatedDevice(
      specification, request: request, microphone: source.makeReader())
    let microphone = PlayFeeder(ring: source, source: Counter(), channelCount: 1)

    let ring = SampleWriter(frameCount: 48000, channelCount: 1)
    let saved = ring.makeReader()
    let gaps = EventWriter<TimelineEvent>()
    var listed = gaps.makeReader()
    var callbacks = Mixer(periodFrames: period, captureChannels: 1, playbackChannels: 0)
    callbacks.inputRecorder = Recorder(ring: ring, gaps: gaps)
    let report = try SessionRunner(
      device: device, callbacks: callbacks, background: [microphone], meter: nil, frameLimit: 40000
    ).run(clock: .virtual) { _, _ in .proceed }

    #expect(report.frames == 40000)
    var lost = 0
    var next = listed.read()
    var frame = SampleBuffer(frameCount: 1, channelCount: 1)
    var reader = saved
    for index in 0..<40000 - report.lostFrames {
      while let gap = next, gap.frame == index {
        lost += gap.frames
        next = listed.read()
      }
      guard reader.read(into: &frame, frames: 1) == 1 else { break }
      #expect(frame[0] == Float((index + lost) % 32768) / 32768)
      if frame[0] != Float((index + lost) % 32768) / 32768 { break }
    }
    // A gap at the very end is followed by no frame.
    if let gap = next { lost += gap.frames }
    #expect(lost == report.lostFrames)
    #expect((lost > 0) == !scheduledFaults.isEmpty)
  }

  @Test func `an overflow of the ring is reported with its frame and length`() throws {
    let ring = SampleWriter(frameCount: 100, channelCount: 1)
    var saved = ring.makeReader()
    let gaps = EventWriter<TimelineEvent>()
    var listed = gaps.makeReader()
    var recorder = Recorder(ring: ring, gaps: gaps)
    var buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    let time = CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0)
    for _ in 0..<3 { recorder.record(buffer, frames: 64, at: time) }
    #expect(listed.read() == nil)
    #expect(saved.read(into: &buffer, frames: 64) == 64)
    recorder.record(buffer, frames: 8, at: time)
    #expect(listed.read() == TimelineEvent(kind: .overflow, frame: 100, frames: 92))
    #expect(recorder.overflowFrames == 92)
  }

  @Test func `an overflow at the end is reported as well`() {
    let ring = SampleWriter(frameCount: 100, channelCount: 1)
    let gaps = EventWriter<TimelineEvent>()
    var listed = gaps.makeReader()
    var recorder = Recorder(ring: ring, gaps: gaps)
    let buffer = SampleBuffer(frameCount: 64, channelCount: 1)
    for _ in 0..<3 {
      recorder.record(
        buffer, frames: 64, at: CycleTime(frame: 0, nanoseconds: 0, lostFrames: 0))
    }
    recorder.finish()
    #expect(listed.read() == TimelineEvent(kind: .overflow, frame: 100, frames: 92))
  }
}
