/// The options of the commands by task, in the order in which the help shows them.
enum HelpSections {
  struct Section {
    let title: String
    /// The commands that it is for; empty where it is for each command that has such options.
    let commands: Set<String>
    /// Long names, without dashes.
    let names: [String]

    init(_ title: String, of commands: Set<String> = [], _ names: String) {
      self.title = title
      self.commands = commands
      self.names = names.split(separator: " ").map(String.init)
    }
  }

  /// An option is shown in the first section that is for its command and has its name.
  static let all = [
    Section("Pictures", of: ["inspect"], "waveform spectrogram overwrite"),
    Section("Checks", of: ["doctor"], "load"),
    Section("Devices", of: ["devices"], "watch"),
    Section("Repair", of: ["repair"], "in-place output overwrite rate channels sample-format"),
    Section(
      "Measurement", of: ["latency"],
      "acoustic repeat reopen level from-channel to-channel save report overwrite listen reference"),
    Section("Trials", of: ["tune"], "load seconds margin save report overwrite"),
    Section(
      "Takes", of: ["overdub"],
      "latency sub-frame from to takes count-in tempo mix overwrite"),
    Section(
      "What is played", of: ["play"],
      "start end region loop reverse speed gain pan shuffle repeat together compare prebuffer dither raw"
    ),
    Section(
      "File", "record record-what file-format sample-format overwrite split keep on-file sync ring"),
    Section(
      "Start and end",
      "duration stop-after-silence pre-roll voice-activated threshold hold tail auto-gain-check"),
    Section("Tags", "title artist comment date"),
    Section("Voice", "denoise agc dereverb high-pass echo-cancel raw"),
    Section(
      "What is heard",
      "monitor gain mute mix start end region loop reverse speed pan limit feedback-guard dim"),
    Section(
      "Sound card",
      "device capture-device playback-device also-play rate channels capture-channels "
        + "playback-channels format master capture-volume playback-volume reconnect no-reserve"),
    Section("Latency", "period-size periods headroom resampler-quality realtime-priority"),
    Section("Messages", "json quiet verbose no-config version help"),
  ]

  /// The options that `--help` shows. It shows all options of a command that is not named here.
  static let common: [String: Set<String>] = [
    "record": names("overwrite file-format split duration stop-after-silence gain monitor device"),
    "monitor": names("record record-what duration gain mix device capture-device period-size"),
    "play": names("start end loop speed gain shuffle repeat device duration"),
    "overdub": names("latency from to takes count-in mix overwrite monitor device period-size"),
    "latency": names("acoustic repeat level save report device period-size"),
    "repair": names("in-place output overwrite rate channels sample-format json"),
    "tune": names("load seconds margin save device rate"),
  ]

  private static func names(_ words: String) -> Set<String> {
    Set(words.split(separator: " ").map(String.init))
  }
}
