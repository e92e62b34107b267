/// The texts of the manual pages that are not part of the help.
enum ManualTexts {
  /// A task, and the commands for it, one per line.
  struct Example {
    let purpose: String
    let commands: [String]

    init(_ purpose: String, _ commands: String...) {
      (self.purpose, self.commands) = (purpose, commands)
    }
  }

  /// A section: paragraphs, then terms with their descriptions, then examples.
  struct Chapter {
    let title: String
    let paragraphs: [String]
    let items: [(String, String)]
    let examples: [(String, [String])]

    init(
      _ title: String, _ paragraphs: String..., items: [(String, String)] = [],
      examples: [(String, [String])] = []
    ) {
      self.title = title
      self.paragraphs = paragraphs.filter { !$0.isEmpty }
      (self.items, self.examples) = (items, examples)
    }
  }

  static let introduction = [
    "duplex records, monitors and plays sound on Linux through ALSA, at the lowest latency that the "
      + "sound card allows. All commands use one full-duplex stream (the unit), which runs input and output in "
      + "step. On one card its latency from input to output is exactly the period size plus the headroom in "
      + "frames.",
    "Every lost frame is reported: after an overrun, an underrun or a pulled cable the "
      + "recording has silence of the same length, and the summary lists the gap.",
    "`duplex COMMAND --help` shows the common options of a command on one screen, `--help-all` all of "
      + "them. Commands and long options may be shortened while they are unambiguous: `duplex rec --dur 3`.",
    "Standard output has results only. Messages, meters and progress go to standard error, meters only "
      + "where that is a terminal.",
  ]

  static let chapters = [
    Chapter(
      "TERMS", "",
      items: [
        ("frame", "One sample of each channel."),
        (
          "period",
          "The frames that a device delivers and takes at a time: 256, unless -p says otherwise, which is 5.3 ms at "
            + "48 kHz."
        ),
        (
          "headroom",
          "The frames that are queued ahead of the output: one period, unless --headroom says otherwise."
        ),
        (
          "xrun",
          "An overrun of the input or an underrun of the output: duplex was too late for a period. The sound is lost, "
            + "and a recording has silence of the same length in its place. Longer periods help."
        ),
        (
          "round trip",
          "The time from the output over a cable or the air to the input, which `duplex latency` measures."
        ),
        (
          "dBFS, dBTP",
          "The level of samples, and of the sound between them (true peak): 0 is the highest."
        ),
        (
          "LUFS",
          "Perceived loudness, by ITU-R BS.1770 and EBU R 128: -16 is usual for podcasts, -23 for television."
        ),
      ]),
    Chapter(
      "DEVICES",
      "-D names a device for both directions, -C and -P one for each. Two different devices are one "
        + "unit whose clocks are held together. A name is one of these:",
      items: [
        ("default", "The default of ALSA: the first card, or a sound server such as PipeWire."),
        ("hw:1,0", "Device 0 of card 1 without conversion: the lowest latency."),
        (
          "hw:CARD=USB,DEV=0",
          "The same by the name of the card, which does not change when cards are plugged in again."
        ),
        (
          "usb",
          "Any part of a device's or a card's name, in upper or lower case, if only one device matches."
        ),
        (
          "sim",
          "A simulated device that plays into its own microphone and needs no sound card. "
            + "`sim:key=value,...` sets rate, channels, delay (frames), gain (dB), invert (0 or 1), noise "
            + "(dBFS), drift (ppm), mic (a file), clock (real or free), xrun-at, unplug-at and replug-at "
            + "(seconds) and what SIMULATED DEVICE lists. With `clock=free` its time is virtual: an hour takes "
            + "seconds, and every run repeats bit for bit."
        ),
      ]),
    Chapter(
      "SIMULATED DEVICE",
      "Keys of `sim:key=value,...` that imitate faults and clocks. xrun-at, dry-at, drift-at, unplug-at, replug-at and "
        + "unplug-side may be given several times.",
      items: [
        ("xrun-at=SECONDS", "The input overruns and loses frames."),
        ("xrun-frames=FRAMES", "Frames that an overrun loses: 480 unless set."),
        ("unplug-at=SECONDS, replug-at=SECONDS", "The device disappears, and returns."),
        (
          "unplug-side=SIDE",
          "Which of two devices disappears, each time: capture, playback or both, which is the default."
        ),
        ("dry-at=SECONDS", "The output underruns, where two clocks are held together."),
        ("capture-rate=HZ", "The rate of the input, if it differs from the output's."),
        ("drift-at=SECONDS:PPM", "The drift changes to this value at this time."),
        (
          "batch=FRAMES",
          "Frames by which a clock advances at once, as a USB device's does: 1 unless set."
        ),
        ("jitter=MILLISECONDS", "By how much the reading of a clock may be late: 0 unless set."),
        (
          "tick=MILLISECONDS",
          "Interval at which the clocks advance, as of drivers that use a kernel timer: 0 unless set."
        ),
      ]),
    Chapter(
      "DEFAULTS",
      "Any long option of any command can be set in duplex/config.toml, which is looked for in "
        + "$XDG_CONFIG_HOME, else in ~/.config. The command line comes first, then $DUPLEX_DEVICE, then the "
        + "file. With --no-config neither the variable nor the file is read.",
      examples: [
        (
          "For all commands, for one, and for one device or a part of its name:",
          [
            "device = \"usb\"", "[record]", "file-format = \"flac\"", "[\"hw:CARD=USB,DEV=0\"]",
            "period-size = 64",
          ]
        )
      ]),
    Chapter(
      "EVENTS",
      "With --json standard output has one JSON object a line and nothing else. Each has `event`; the "
        + "last one is `summary`, or `error` where nothing began. `started` names the devices, the rate and "
        + "the latency; `xrun`, `device`, `marker`, `split` and `warning` come when they happen, `meter` ten "
        + "times a second. The file events.schema.json describes all of them."),
    Chapter(
      "SIGNALS", "",
      items: [
        (
          "SIGINT, SIGTERM, SIGHUP",
          "End as q does: files are completed first. A second SIGINT ends at once and still leaves a "
            + "file that can be read."
        ),
        ("SIGUSR1", "Start the next file of a recording, or a recording that waits for its start."),
        ("SIGUSR2", "Set a marker."),
      ]),
    Chapter(
      "REALTIME PRIORITY",
      "The audio thread asks for SCHED_FIFO priority 70, else for what the limits of the user allow, "
        + "else RealtimeKit. To allow it for good, put these lines into /etc/security/limits.d/audio.conf "
        + "and join the group audio; `duplex doctor` tells whether it worked.",
      examples: [("", ["@audio - rtprio 95", "@audio - memlock unlimited"])]),
  ]

  static let environment = Chapter(
    "ENVIRONMENT", "",
    items: [
      ("DUPLEX_DEVICE", "The device of all runs that name none."),
      ("XDG_CONFIG_HOME", "The folder of duplex/config.toml and of what is saved for devices."),
      (
        "XDG_CACHE_HOME",
        "The folder where bytes from the network are kept while they play, in a file that is deleted "
          + "when the process ends."
      ),
      ("TMPDIR", "The folder in which `tune --load` and `doctor --load` keep the disk busy."),
      ("NO_COLOR", "If set, nothing is coloured."),
      ("TERM", "If it is dumb, no meters and no progress are drawn."),
      ("LC_ALL, LC_CTYPE, LANG", "Whether the screen is drawn in UTF-8 or in ASCII."),
      ("ALSA_CONFIG_PATH", "The configuration of ALSA, see asound.conf(5)."),
      ("https_proxy, http_proxy, no_proxy", "Proxies for addresses, as curl(1) takes them."),
      (
        "SSL_CERT_FILE, SSL_CERT_DIR, CURL_CA_BUNDLE",
        "The certificates that prove the identity of servers, as curl(1) takes them."
      ),
    ])

  static let files = Chapter(
    "FILES", "",
    items: [
      ("~/.config/duplex/config.toml", "Defaults, see DEFAULTS."),
      ("~/.config/duplex/latency/", "Round trips that `duplex latency --save` measured."),
      ("~/.config/duplex/profile/", "Settings that `duplex tune --save` found."),
      ("note-YYYYMMDD-HHMMSS.wav", "The recording of `duplex record` without FILE."),
      ("~/.asoundrc, /etc/asound.conf", "PCMs of the user and of the system, see asound.conf(5)."),
    ])

  static let relatedPages = [
    "arecord(1)", "aplay(1)", "alsamixer(1)", "asound.conf(5)", "limits.conf(5)",
  ]

  /// The commands that are related to each command.
  static let related = [
    "record": ["monitor", "overdub", "repair", "inspect"],
    "monitor": ["record", "tune", "latency", "doctor"],
    "play": ["inspect", "overdub"],
    "latency": ["overdub", "tune", "monitor"],
    "overdub": ["latency", "record", "play"],
    "tune": ["doctor", "latency", "monitor"],
    "repair": ["record", "inspect"],
    "inspect": ["play", "repair"],
    "devices": ["doctor"],
    "doctor": ["devices", "tune"],
  ]

  /// The kinds of values in the order in which they are explained, by the value names of the
  /// options.
  static let values = [
    "time", "time,time", "hz", "db", "db,...", "db|off", "p,...", "n,...", "volume", "frames", "x",
    "n|forever", "n|off", "size|time|silence", "n|size|age", "auto|time|file", "format,hz,n",
    "file[:db]", "beats", "bpm", "percent",
  ]

  /// Further descriptions of commands.
  static let descriptions = [
    "record": [
      "A recording is a complete file at every moment: its header is brought up to date four times a second, "
        + "and it is flushed to disk at least every --sync. The file gets its name, and --overwrite "
        + "replaces one, when the first frames in it can be read.",
      "Where a device named by its card is unplugged, the recording waits and goes on when the same "
        + "device is back, with silence for the time away. A full disk ends it with everything that fitted.",
    ],
    "monitor": [
      "From input to output it takes exactly the period size and the headroom in frames. Wear headphones: "
        + "a loudspeaker howls. The limiter and the feedback suppressor protect your hearing.",
      "With --limit-lookahead the limiter delays all that is played, to lower it before a peak comes; the delay is "
        + "part of the latency that is shown, and of latencyFrames in the summary. An overdub takes it off.",
    ],
    "play": [
      "WAV, RF64, BW64, W64, AIFF, CAF, AU, FLAC, Ogg Vorbis, Opus and MP3 are read, and internet radio. Of "
        + "an address only the bytes that are played are fetched; a broken connection is resumed."
    ],
    "latency": [
      "The answer is in frames: median, deviation, the share of the unit's own buffers and of the rest. Several "
        + "methods must agree; otherwise the answer is marked doubtful, and --save does not keep it."
    ],
    "devices": [
      "Each line begins with what to type after -D. Any part of a name is enough where it fits one device."
    ],
  ]

  static let statusesOfAll: [(ExitStatus, String)] = [
    (.done, "Done, or ended by the user: files are complete."),
    (
      .loss,
      "Ended with a loss that could not be repaired, such as a full disk or a device that did not come "
        + "back: the sound so far is saved."
    ),
    (.usage, "Wrong usage."),
    (.unusableInput, "The contents of a file cannot be used."),
    (.noInput, "An input file or an address cannot be opened."),
    (.unavailable, "The device is missing, busy, or does not support the settings."),
    (.cannotCreate, "An output file cannot be created, or exists and --overwrite was not given."),
    (.noPermission, "Permission denied."),
  ]

  /// The meaning of status 1 for commands that use it differently.
  private static let lossOf = [
    "latency": "No signal was found, or it was stopped before there was anything to show.",
    "tune": "No setting held, or it was stopped before there was anything to show.",
    "overdub": "Ended with a loss, or was stopped before there was anything to show.",
    "doctor": "There is a problem that makes low latency, or any sound, impossible.",
    "repair": "Stopped by the user: unfinished copies are removed.",
    "inspect": "Stopped by the user.",
  ]

  private static let statusNumbers: [String: [ExitStatus]] = [
    "devices": [.done, .usage], "doctor": [.done, .loss, .usage],
    "repair": [.done, .loss, .usage, .unusableInput, .noInput, .cannotCreate, .noPermission],
    "inspect": [.done, .loss, .usage, .unusableInput, .noInput, .cannotCreate, .noPermission],
  ]

  /// Returns the exit statuses of the command `name`, with the condition for each.
  static func statuses(of name: String) -> [(ExitStatus, String)] {
    statusesOfAll.filter { statusNumbers[name]?.contains($0.0) != false }.map { status, text in
      (status, status == .loss ? lossOf[name] ?? text : text)
    }
  }
}
