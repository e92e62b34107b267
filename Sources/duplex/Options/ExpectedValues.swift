import AudioBasics
import AudioDevices

/// What the command line takes where a value was refused: ranges, and an example of each.
enum ExpectedValues {
  /// What is expected where the parser's `complaint` names an option and its value, as in
  /// `... is invalid for '-d, --duration <time>'`; nil where it speaks of something else.
  static func sentence(for complaint: String) -> String? {
    guard let end = complaint.lastIndex(of: ">"),
      let start = complaint[..<end].lastIndex(of: "<")
    else { return nil }
    let value = String(complaint[complaint.index(after: start)..<end])
    let option = complaint[..<start].split { " ',".contains($0) }.last.map(String.init) ?? ""
    return ofOptions[shortNames[option] ?? option] ?? ofValues[value]
  }

  /// What a value of the name `value` is; nil where each option takes others.
  static func sentence(forValue value: String) -> String? { ofValues[value] }

  private static let time =
    "A time is 90, 1.5, 90s, 500ms, 2m, 1h30m, 1:30, 0:01:30.5, or 48000f in frames, from 0 to "
    + "1000000000 s."

  private static let ofValues = [
    "time": time,
    "time,time": "A stretch is two times, 0:10,0:14.5 or 48000f,96000f, of 0 to 1000000000 s.",
    "hz": "A rate is 8000 to 768000 Hz, as 48000, 48k or 44.1k.",
    "db": "A gain is -200 to 60 dB, as -6.",
    "db|off": "A level is -60 to 0 dBFS, as -1, or off.",
    "db,...": "Gains are -200 to 60 dB, one for all or one for each: -6 or -6,0,-3.",
    "p,...": "Places are -1, left, to 1, right, one for all or one for each: 0.5 or -1,1.",
    "frames": "Frames are a whole number, as 256.",
    "n": "A whole number is expected, as 2.",
    "n,...":
      "Channels are numbers from 1 to \(ChannelSelection.highestNumber), 64 at most, as 3,4.",
    "n|off": "A priority is 1 to 99, as 70, or off.",
    "n|forever": "Loops are 1 to 1000000000, as 4, or forever.",
    "x": "A speed is 0.25 to 4, as 0.75.",
    "volume": "A volume is 0% to 100% of the mixer's range, as 80%, or -200 to 60 dB, as -6.",
    "beats": "Beats are 0 to 1000, as 4.",
    "bpm": "A tempo is 10 to 1000 beats a minute, as 120.",
    "percent": "A margin is 0 to 99 percent, as 30.",
    "on|off": "Say on or off.",
    "size|time|silence": "Split by a size (100M), a time (10:00, 30m) or at pauses (silence).",
    "n|size|age": "Keep a number of files (24), a size (2G) or an age (7d, 24h, 90m).",
    "auto|time|file": "A round trip is auto, a time of 0 to 10 s (12.75ms, 612f) or a file.",
    "format,hz,n": "Bare samples are S16_LE,44100,2, or cd or dat.",
    "file[:db]": "A file may have a gain of -200 to 60 dB behind it: song.wav:-6.",
  ]

  private static let shortNames = [
    "-p": "--period-size", "-n": "--periods", "-c": "--channels", "-f": "--format",
  ]

  private static let ofOptions = [
    "--file-format":
      "A file format is wav, rf64, w64, aiff, caf, flac, ogg, opus, mp3 or raw.",
    "--period-size": "A period is 1 to 65536 frames, as 256.",
    "--periods": "A buffer is 2 to 1024 periods, as 2.",
    "--headroom": "A headroom is 1 to 1048576 frames, as 256.",
    "--channels": "Channels are 1 to 64, as 2.",
    "--resampler-quality": "A quality is 0 to 10, as 5.",
    "--high-pass": "A frequency is 10 to 1000 Hz, as 80.",
    "--dim": "A dimming is 0 to 60 dB, as 20.",
    "--format":
      "A format is \(SampleFormat.allCases.map(\.name).joined(separator: ", ")), or cd or dat; "
      + "s16, s24le and f32le will do as well.",
  ]
}
