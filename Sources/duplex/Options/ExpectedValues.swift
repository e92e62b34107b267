import AudioBasics
import AudioDevices

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
    "A time is 90, 1.5, 90s, 500ms, 2m, 1h30m, 1:30, 0:01:30.5, or 48000f in frames: 0 to "
    + "1000000000 s."

  private static let ofValues = [
    "time": time,
    "time,time":
      "A region is two times of 0 to 1000000000 s, such as 0:10,0:14.5 or 48000f,96000f.",
    "hz": "A rate is 8000 to 768000 Hz, such as 48000, 48k or 44.1k.",
    "db": "A gain is -200 to 60 dB, such as -6.",
    "db|off": "A level is -60 to 0 dBFS, such as -1, or off.",
    "db,...":
      "A gain is -200 to 60 dB: one for all sources or one for each, such as -6 or -6,0,-3.",
    "p,...":
      "A pan is -1 (left) to 1 (right): one for all sources or one for each, such as 0.5 or -1,1.",
    "frames": "A number of frames is a whole number, such as 256.",
    "n": "Use a whole number, such as 2.",
    "n,...":
      "A list has 1 to 64 channel numbers of 1 to \(ChannelSelection.highestNumber), such as 3,4.",
    "n|off": "A priority is 1 to 99, such as 70, or off.",
    "n|forever": "A number of loops is 1 to 1000000000, such as 4, or forever.",
    "x": "A speed is 0.25 to 4, such as 0.75.",
    "volume":
      "A volume is 0% to 100% of the mixer's range, such as 80%, or -200 to 60 dB, such as -6.",
    "beats": "A number of beats is 0 to 1000, such as 4.",
    "bpm": "A tempo is 10 to 1000 beats per minute, such as 120.",
    "percent": "A margin is 0 to 99 percent, such as 30.",
    "on|off": "Use on or off.",
    "size|time|silence": "Split by a size (100M), a time (10:00, 30m) or at pauses (silence).",
    "n|size|age": "Keep a number of files (24), a size (2G) or an age (7d, 24h, 90m).",
    "auto|time|file": "A round trip is auto, a time of 0 to 10 s (12.75ms, 612f) or a file.",
    "format,hz,n": "Raw samples have a format, a rate and channels: S16_LE,44100,2, or cd or dat.",
    "file[:db]": "A gain of -200 to 60 dB may follow the file: song.wav:-6.",
  ]

  private static let ofOptions = [
    "--file-format":
      "A file format is wav, rf64, w64, aiff, caf, flac, ogg, opus, mp3 or raw.",
    "--period-size": "A period is 1 to 65536 frames, such as 256.",
    "--periods": "A buffer is 2 to 1024 periods, such as 2.",
    "--headroom": "A headroom is 1 to 1048576 frames, such as 256.",
    "--channels": "A number of channels is 1 to 64, such as 2.",
    "--resampler-quality": "A quality is 0 to 10, such as 5.",
    "--high-pass": "A frequency is 10 to 1000 Hz, such as 80.",
    "--threshold": "A threshold is -200 to 0 dBFS, such as -40.",
    "--level": "A level is -200 to 0 dBFS, such as -12.",
    "--dim": "An attenuation is 0 to 60 dB, such as 20.",
    "--format":
      "A format is \(SampleFormat.allCases.map(\.name).joined(separator: ", ")), or cd or dat; "
      + "s16, s24le and f32le are short forms.",
  ]
}
