import Duplex

/// Wrong uses of files, decoders and recordings.
let fileMistakes: [Mistake] = [
  Mistake(name: "file-to-read-not-there", answer: .thrown) {
    _ = try SoundFileReader(path: "nowhere.wav")
  },
  Mistake(name: "file-of-rate-0", answer: .thrown) {
    _ = try SoundFileWriter(
      path: "rate.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 0, channelCount: 2,
      overwrite: true)
  },
  Mistake(name: "file-of-no-channels", answer: .thrown) {
    _ = try SoundFileWriter(
      path: "channels.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 0, overwrite: true)
  },
  Mistake(name: "file-of-other-channels", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 1), frames: 64)
  },
  Mistake(name: "file-from-beyond-a-buffer", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 65)
  },
  Mistake(name: "file-of-negative-frames", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: -1)
  },
  Mistake(name: "plan-of-no-channels", answer: .thrown) { try record { $0.channelCount = 0 } },
  Mistake(name: "plan-of-rate-0", answer: .thrown) { try record { $0.sampleRate = 0 } },
  Mistake(name: "plan-with-a-negative-ring", answer: .thrown) {
    try record({ _ in }, ringFrames: -1)
  },
  Mistake(name: "plan-with-an-impossible-ring", answer: .thrown) {
    try record({ _ in }, ringFrames: .max)
  },
  Mistake(name: "plan-with-a-million-played-channels", answer: .thrown) {
    let plan = RecordingPlan(
      path: "played.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2)
    _ = try RecordingWriter(plan, ringFrames: 4800, playedChannels: 1_000_000)
  },
  Mistake(name: "recorder-in-no-mixer", answer: .harmless) {
    var plan = RecordingPlan(
      path: "nowhere.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2)
    plan.overwrite = true
    let writer = try RecordingWriter(plan, ringFrames: 48000)
    try run(Mixer(try open().configuration), background: [writer])
  },
  Mistake(name: "gaps-beyond-the-timeline", answer: .harmless) {
    for frames in [Int.min, -1, .max] {
      var session = SessionReport()
      session.events = [
        TimelineEvent(kind: .captureXrun, frame: frames, frames: frames),
        TimelineEvent(kind: .captureAbsent, frame: .max, frames: .max),
      ]
      var recorded = RecordingReport()
      recorded.gaps = [
        RecordingGap(frame: frames, frames: frames), RecordingGap(frame: .max, frames: .max),
      ]
      _ = session.gaps(in: recorded)
    }
  },
  Mistake(name: "plan-split-after-nothing", answer: .harmless) {
    try record { $0.split = .frames(0) }
  },
  Mistake(name: "file-read-beyond-a-buffer", answer: .stopped) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    var reader = try SoundFileReader(path: "wrong.wav")
    var buffer = SampleBuffer(frameCount: 64, channelCount: 2)
    _ = try reader.read(into: &buffer, at: 65, frames: 1)
  },
  Mistake(name: "file-sought-beyond-its-end", answer: .thrown) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    var reader = try SoundFileReader(path: "wrong.wav")
    try reader.seek(toFrame: 65)
  },
  Mistake(name: "file-written-after-its-end", answer: .thrown) {
    var writer = try SoundFileWriter(
      path: "/tmp/duplex-wrong-use.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 1, overwrite: true, appearance: .finished)
    try writer.complete()
    try writer.write(SampleBuffer(frameCount: 64, channelCount: 1), frames: 64)
  },
  Mistake(name: "file-of-two-speakers-for-four-channels", answer: .thrown) {
    _ = try SoundFileWriter(
      path: "/tmp/duplex-wrong-use.wav", fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000,
      channelCount: 4, overwrite: true, speakers: [.frontLeft, .frontRight])
  },
  Mistake(name: "source-of-more-bytes-than-fit", answer: .stopped) {
    _ = try Decoding.decoder(for: Source(surplus: 1))
  },
  Mistake(name: "source-of-fewer-bytes-than-stated", answer: .thrown) {
    _ = try Decoding.decoder(for: Source(surplus: 0))
  },
  Mistake(name: "splice-of-negative-frame", answer: .thrown) {
    try write(SampleBuffer(frameCount: 64, channelCount: 2), frames: 64)
    let splice = try FileSplice(path: "wrong.wav")
    try splice.replace(from: -1, with: "wrong.wav", minimumFrames: -1, isNew: false)
  },
  Mistake(name: "track-of-rate-0", answer: .thrown) {
    _ = try TrackReader(Decoder(), sampleRate: 0, channelCount: 2)
  },
  Mistake(name: "track-of-no-channels", answer: .thrown) {
    _ = try TrackReader(Decoder(), sampleRate: 48000, channelCount: 0)
  },
]
