import AudioBasics
import AudioClocks
import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio

/// Where a recording goes and how it is kept: checked before a device is opened, made once its
/// rate and channels are known.
struct RecordingTarget {
  let path: String
  let fileFormat: FileFormat
  let sampleFormat: FileSampleFormat?
  let overwrite: Bool

  /// `-` is standard output.
  var isStream: Bool { path == "-" }

  init(
    path: String, fileFormat: FileFormat?, sampleFormat: FileSampleFormat?, overwrite: Bool
  ) throws(ToolFailure) {
    self.path = path
    if let format = fileFormat ?? FileFormat(pathExtensionOf: path) {
      self.fileFormat = format
    } else if path == "-" {
      self.fileFormat = .wav
    } else {
      throw ToolFailure(
        .usage, code: "usage", "The name \(path) does not say which format to record.",
        hint: "End it in .wav, .flac or another known one, or name it with --file-format.")
    }
    self.sampleFormat = sampleFormat
    self.overwrite = overwrite
  }

  /// What the file keeps of samples that a device delivers as `format`.
  func keeps(_ format: SampleFormat?) -> FileSampleFormat {
    if let sampleFormat { return sampleFormat }
    return fileFormat.nearest(to: format?.fileSampleFormat ?? .float)
  }
}

extension SampleFormat {
  /// What a file keeps by default: what the device delivers; of 32-bit integers the 24 bits that
  /// converters have.
  var fileSampleFormat: FileSampleFormat {
    switch self {
    case .s16LE, .s16BE: .s16
    case .s24LE, .s24BE, .s24Packed3LE, .s24Packed3BE, .s32LE, .s32BE: .s24
    case .floatLE, .floatBE: .float
    }
  }
}

/// A recording under way: its file, its disk half, and the audio half to put on a desk.
struct Recording: ~Copyable {
  let saver: TapeSaver
  let target: RecordingTarget
  let sampleFormat: FileSampleFormat
  let channelCount: Int
  private var recorder: Recorder?

  /// Makes the file and a tape that holds ten seconds of a stalled disk. Only what lies within
  /// `window` goes into the file, moved as `shift` says.
  init(
    _ target: RecordingTarget, channelCount: Int, sampleRate: Int, from format: SampleFormat?,
    window: TakeWindow = TakeWindow(), shift: consuming FrameShift? = nil
  ) throws {
    self.target = target
    self.channelCount = channelCount
    sampleFormat = target.keeps(format)
    let tape = SampleWriter(frameCount: 10 * sampleRate, channelCount: channelCount)
    let gaps = EventWriter()
    let writer: SoundFileWriter
    if target.isStream {
      writer = try SoundFileWriter(
        fileFormat: target.fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
        channelCount: channelCount)
    } else {
      writer = try SoundFileWriter(
        path: target.path, fileFormat: target.fileFormat, sampleFormat: sampleFormat,
        sampleRate: sampleRate, channelCount: channelCount, overwrite: target.overwrite)
    }
    saver = TapeSaver(
      tape: tape.makeReader(), gaps: gaps.makeReader(), writer: writer, sampleRate: sampleRate,
      channelCount: channelCount, window: window, shift: shift)
    recorder = Recorder(tape: tape, gaps: gaps)
  }

  /// The audio thread's half, once.
  mutating func takeRecorder() -> Recorder? {
    recorder.take()
  }
}

extension JSON {
  /// What a recording adds to a summary.
  static func recording(
    _ target: RecordingTarget, _ sampleFormat: FileSampleFormat, _ channelCount: Int,
    _ report: RecordingReport
  ) -> [(String, JSON)] {
    [
      ("path", .string(target.path)), ("fileFormat", .string(target.fileFormat.name)),
      ("sampleFormat", .string(sampleFormat.name)), ("channels", .integer(channelCount)),
      ("peakDBFS", .array(report.peaks.map { .rounded(Decibels.level($0)) })),
      ("integratedLUFS", report.integratedLUFS.map { .rounded($0) } ?? .null),
    ]
  }
}

/// The name of a note taken now: note-YYYYMMDD-HHMMSS.wav.
func noteName() -> String {
  var now = time(nil)
  var fields = unsafe tm()
  unsafe localtime_r(&now, &fields)
  func padded(_ number: Int32, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
  let date =
    unsafe padded(fields.tm_year + 1900, 4) + padded(fields.tm_mon + 1) + padded(fields.tm_mday)
  let clock = unsafe padded(fields.tm_hour) + padded(fields.tm_min) + padded(fields.tm_sec)
  return "note-\(date)-\(clock).wav"
}
