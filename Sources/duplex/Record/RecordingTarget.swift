import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// Where a recording goes and how it is kept: checked before a device is opened, made once its
/// rate and channels are known.
struct RecordingTarget {
  let path: String
  let fileFormat: FileFormat
  let sampleFormat: FileSampleFormat?
  let overwrite: Bool
  /// What is played or heard meanwhile.
  var inputs: Set<FileIdentity> = []

  /// `-` is standard output.
  var isStream: Bool { path == "-" }

  init(
    path: String, fileFormat: FileFormat?, sampleFormat: FileSampleFormat?, overwrite: Bool
  ) throws(ToolFailure) {
    self.path = path
    guard !SoundFolder.isFolder(path), path.utf8.last != UInt8(ascii: "/") else {
      throw ToolFailure(
        .cannotCreate, code: "outputRefused", "\(path) is a folder.", hint: "Name a file in it.")
    }
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

  /// The plan of a recording of `stream`.
  func plan(
    _ stream: StreamConfiguration?, sampleRate: Int, _ clock: SessionClock
  ) -> RecordingPlan {
    var plan = RecordingPlan(
      path: path, fileFormat: fileFormat, sampleFormat: keeps(stream?.format),
      sampleRate: sampleRate, channelCount: stream?.channelCount ?? 1)
    plan.overwrite = overwrite
    plan.inputs = inputs
    if case .virtual = clock { plan.isVirtual = true }
    return plan
  }

  /// The name of a note taken now: note-YYYYMMDD-HHMMSS.wav, or with a number behind the time where
  /// two are taken in one second.
  static func noteName(_ format: FileFormat) -> String {
    let stem = LocalTime(WallTime.nanoseconds).formatted("note-%Y%m%d-%H%M%S")
    let names = [""] + (2..<100).map { "-\($0)" }
    let number = names.first { FileRemoval.byteCount(of: "\(stem)\($0).\(format.name)") == nil }
    return "\(stem)\(number ?? "").\(format.name)"
  }
}

extension SampleFormat {
  /// What a file keeps by default: what the device delivers; of 32-bit integers the 24 bits that
  /// converters have.
  fileprivate var fileSampleFormat: FileSampleFormat {
    switch self {
    case .s16LE, .s16BE: .s16
    case .s24LE, .s24BE, .s24Packed3LE, .s24Packed3BE, .s32LE, .s32BE: .s24
    case .floatLE, .floatBE: .float
    }
  }
}
