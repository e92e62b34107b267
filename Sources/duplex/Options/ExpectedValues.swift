import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import LatencyMeasurement
import RealtimeAudio
import VoiceCleaning

/// The accepted values of the options, for messages about rejected values: ranges, with examples.
enum ExpectedValues {
  /// Returns the description of the accepted values if the parser's `complaint` names an option and
  /// its value, as in `... is invalid for '-d, --duration <time>'`; nil for other complaints.
  static func sentence(for complaint: String) -> String? {
    guard let end = complaint.lastIndex(of: ">"),
      let start = complaint[..<end].lastIndex(of: "<")
    else { return nil }
    let value = String(complaint[complaint.index(after: start)..<end])
    let option = complaint[..<start].split { " ',".contains($0) }.last ?? ""
    let name = option.drop { $0 == "-" }
    let longName = name.count == 1 ? AudioOptions.longNames[name[name.startIndex]] : String(name)
    return longName.flatMap { ofOptions["--" + $0] } ?? ofValues[value]
  }

  /// Returns the description of values with the name `value`; nil if it depends on the option.
  static func sentence(forValue value: String) -> String? { ofValues[value] }

  private static let time =
    "A time is 90, 1.5, 90s, 500ms, 2m, 1h30m, 1:30, 0:01:30.5, or 48000f in frames: "
    + "\(seconds) s."

  private static let seconds = (0...ParsedTime.maximumSeconds).boundsText
  private static let decibels = Gain.decibelRange.boundsText
  private static let levels = LevelOption.decibelRange.boundsText
  private static let channels = DuplexRequest.channelRange.boundsText
  private static let percentages =
    "\(MixerVolume.percentages.lowerBound.boundText)% to \(MixerVolume.percentages.upperBound.boundText)%"

  private static let ofValues = [
    "time": time,
    "time,time":
      "A region is two times of \(seconds) s, such as 0:10,0:14.5 or 48000f,96000f.",
    "hz": "A rate is \(DuplexRequest.sampleRates.boundsText) Hz, such as 48000, 48k or 44.1k.",
    "db": "A gain is \(decibels) dB, such as -6.",
    "db|off": "A level is \(ProtectionSettings.limits.boundsText) dBFS, such as -1, or off.",
    "db,...":
      "A gain is \(decibels) dB: one for all sources or one for each, such as -6 or -6,0,-3.",
    "p,...":
      "A pan is \(OptionRanges.pansText): one for all sources or one for each, such as 0.5 or -1,1.",
    "frames": "A number of frames is a whole number, such as 256.",
    "n": "Use a whole number, such as 2.",
    "n,...":
      "A list has \(channels) channel numbers of \(ChannelSelection.numbers.boundsText), such as 3,4.",
    "n|off": "A priority is \(ThreadPriority.realtimeNumbers.boundsText), such as 70, or off.",
    "n|forever": "A number of loops is \(OptionRanges.loops.boundsText), such as 4, or forever.",
    "x": "A speed is \(TrackSettings.speeds.boundsText), such as 0.75.",
    "volume":
      "A volume is \(percentages) of the mixer's range, such as 80%, or \(decibels) dB, such as -6.",
    "beats": "A number of beats is \(OptionRanges.beats.boundsText), such as 4.",
    "bpm": "A tempo is \(OptionRanges.tempos.boundsText) beats per minute, such as 120.",
    "percent": "A margin is \(TuneSettings.marginRange.boundsText) percent, such as 30.",
    "on|off": "Use on or off.",
    "size|time|silence": "Split by a size (100M), a time (10:00, 30m) or at pauses (silence).",
    "n|size|age": "Keep a number of files (24), a size (2G) or an age (7d, 24h, 90m).",
    "auto|time|file":
      "A round trip is auto, a time of \(OptionRanges.roundTripSeconds.boundsText) s (12.75ms, 612f) or a file.",
    "format,hz,n": "Raw samples have a format, a rate and channels: S16_LE,44100,2, or cd or dat.",
    "file[:db]": "A gain of \(decibels) dB may follow the file: song.wav:-6.",
  ]

  private static let ofOptions = [
    "--file-format":
      "A file format is \(FileFormat.allCases.map(\.name).alternatives).",
    "--period-size":
      "A period is \(DuplexRequest.periodFrameRange.boundsText) frames, such as 256.",
    "--periods": "A buffer is \(DuplexRequest.periodsRange.boundsText) periods, such as 2.",
    "--headroom": "A headroom is \(DuplexRequest.headroomRange.boundsText) frames, such as 256.",
    "--channels": "A number of channels is \(channels), such as 2.",
    "--resampler-quality":
      "A quality is \(DuplexRequest.resamplerQualityRange.boundsText), such as 5.",
    "--high-pass": "A frequency is \(VoiceCleaner.highPassHertz.boundsText) Hz, such as 80.",
    "--threshold": "A threshold is \(levels) dBFS, such as -40.",
    "--level": "A level is \(levels) dBFS, such as -12.",
    "--dim": "An attenuation is \(OptionRanges.dims.boundsText) dB, such as 20.",
    "--format":
      "A format is \(SampleFormat.allCases.map(\.name).joined(separator: ", ")), or cd or dat; "
      + "s16, s24le and f32le are short forms.",
  ]
}
