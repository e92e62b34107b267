import AudioBasics
import AudioDevices
import AudioFiles
import Glibc
import RealtimeAudio
import TemporaryFolders
import Testing

@testable import AudioSessions

/// Tests of frames that were lost before they reached the disk.
@Suite struct GapTests {
  @Test func `frames that exceed the ring become silence, and are listed and reported`() throws {
    let rig = try RecordingRig(ringFrames: 5000)
    rig.record(4000)
    rig.save()
    rig.record(9000)
    rig.save()
    rig.record(1000, lost: 70)
    rig.finish()
    let report = rig.writer.report
    #expect(report.gaps == [RecordingGap(frame: 9000, frames: 4070)])
    #expect(report.overflowFrames == 4000)
    #expect(report.frames == 14070)
    let wanted = (1...14070).map { (9001...13070).contains($0) ? 0 : $0 }
    #expect(try rig.allNumbers() == wanted)
    let reported = rig.events.compactMap { event -> Int? in
      if case .overflow(_, let frames) = event { frames } else { nil }
    }
    #expect(reported == [4000])
  }

  @Test func `frames that exceed the ring are reported with their place on the timeline`() throws {
    let rig = try RecordingRig(ringFrames: 5000)
    rig.begin(at: 30_000)
    rig.record(4000)
    rig.save()
    rig.record(9000)
    rig.save()
    rig.finish()
    #expect(rig.writer.report.gaps.first?.frame == 9000)
    let reported = rig.events.compactMap { event -> Int? in
      if case .overflow(let frame, _) = event { frame } else { nil }
    }
    #expect(reported == [39_000])
  }

  @Test func `a recording whose recorder is in no mixer ends with its session`() throws {
    let rig = try RecordingRig()
    rig.record(100)
    #expect(rig.writer.step())
    rig.writer.conclude()
    #expect(!rig.writer.step())
    #expect(rig.writer.report.frames == 100 && rig.writer.report.failure == nil)
  }

  @Test func `a recorder of played frames that is in no mixer does not stop the recording`() throws
  {
    let folder = TemporaryFolder()
    var plan = RecordingPlan(
      path: folder("take.wav"), fileFormat: .wav, sampleFormat: .float, sampleRate: 8000,
      channelCount: 1)
    plan.isVirtual = true
    let writer = try RecordingWriter(plan, ringFrames: 1000, playedChannels: 1)
    var recorder = writer.takeRecorder()
    for second in 0..<10 {
      recorder?.record(
        SampleBuffer(frameCount: 1000, channelCount: 1), frames: 1000,
        at: CycleTime(frame: second * 1000, nanoseconds: 0, lostFrames: 0))
      #expect(writer.step())
    }
    recorder?.finish()
    #expect(!writer.step())
    #expect(writer.report.frames == 10_000 && writer.report.overflowFrames == 0)
  }

  @Test func `frames lost at the end by a full disk are removed from the whole report`() {
    var report = RecordingReport()
    report.gaps = [RecordingGap(frame: 100, frames: 50), RecordingGap(frame: 980, frames: 50)]
    report.add(RecordingGap(frame: 2000, frames: 10))
    report.segments = [
      RecordedSegment(timelineFrame: 0, frame: 0, frames: 900, start: 0),
      RecordedSegment(timelineFrame: 2000, frame: 900, frames: 300, start: 0),
      RecordedSegment(timelineFrame: 5000, frame: 1200, frames: 0, start: 0),
    ]
    report.markers = [
      RecordedMarker(frame: 1000, label: "a"), RecordedMarker(frame: 1001, label: "b"),
    ]
    report.pauses = [
      RecordingPause(frame: 950, timelineFrame: 2050, frames: 10),
      RecordingPause(frame: 1100, timelineFrame: 2210, frames: 10),
    ]
    report.end(at: 1000, losing: 7)
    #expect(report.frames == 1000 && report.lostFrames == 7)
    #expect(
      report.gaps == [RecordingGap(frame: 100, frames: 50), RecordingGap(frame: 980, frames: 20)])
    #expect(report.segments.map(\.frames) == [900, 100])
    #expect(report.markers.map(\.label) == ["a"])
    #expect(report.pauses.map(\.frame) == [950])
    // A segment with a negative frame count, as a program that uses the library may create.
    report.segments.append(RecordedSegment(timelineFrame: 9000, frame: 1000, frames: -7, start: 0))
    var session = SessionReport()
    session.events = [TimelineEvent(kind: .captureXrun, frame: 10, frames: 5)]
    #expect(session.gaps(in: report).first == RecordingGap(frame: 10, frames: 5))
  }

  @Test func `silence of the device is reported as a gap, except in a pause`() {
    var recorded = RecordingReport()
    recorded.gaps = [RecordingGap(frame: 100, frames: 50), RecordingGap(frame: 1480, frames: 20)]
    recorded.segments = [RecordedSegment(timelineFrame: 0, frame: 0, frames: 4000, start: 0)]
    recorded.pauses = [RecordingPause(frame: 1000, timelineFrame: 1000, frames: 600)]
    var session = SessionReport()
    session.events = [
      // An event of a single device, or of the clock master, whose gaps the recorder records
      // itself.
      TimelineEvent(kind: .captureXrun, frame: 100, frames: 50),
      // The recorder recorded the end of this gap itself.
      TimelineEvent(kind: .captureReturned, frame: 1500, frames: 600),
      TimelineEvent(kind: .playbackXrun, frame: 3000, frames: 70),
      // The recorder received silence for this gap.
      TimelineEvent(kind: .captureXrun, frame: 4000, frames: 30),
      TimelineEvent(kind: .captureAbsent, frame: 4590, frames: 30),
    ]
    #expect(
      session.gaps(in: recorded) == [
        RecordingGap(frame: 100, frames: 50), RecordingGap(frame: 1000, frames: 500),
        RecordingGap(frame: 3400, frames: 30), RecordingGap(frame: 3990, frames: 10),
      ])
  }

  @Test func `a gap across files is divided among them, and no frame moves`() throws {
    let rig = try RecordingRig { $0.split = .frames(1000) }
    rig.record(900)
    rig.record(900, lost: 1500)
    rig.finish()
    #expect(rig.writer.report.gaps == [RecordingGap(frame: 900, frames: 1500)])
    #expect(rig.writer.report.files.map(\.frames) == [1000, 1000, 1000, 300])
    #expect(try rig.allNumbers() == (1...3300).map { (901...2400).contains($0) ? 0 : $0 })
  }

  @Test func `markers are at their frames`() throws {
    let rig = try RecordingRig()
    rig.writer.control.request(.mark("one"), at: 500)
    rig.record(2000)
    rig.save()
    rig.writer.control.request(.mark("late"), at: 700)
    rig.record(10)
    rig.finish()
    #expect(
      rig.writer.report.markers == [
        RecordedMarker(frame: 500, label: "one"), RecordedMarker(frame: 2000, label: "late"),
      ])
  }
}
