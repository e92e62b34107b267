import AudioBasics
import Testing

@testable import AudioSessions
@testable import duplex

@Suite struct LiveScreenTests {
  /// The numbers of columns and rows, and whether non-ASCII characters may be shown.
  struct Terminal: Sendable, CustomTestStringConvertible {
    var columns: Int
    var rows: Int
    var hasUnicode = true

    var screen: LiveScreen { LiveScreen(columns: columns, rows: rows, hasUnicode: hasUnicode) }
    var testDescription: String { "\(columns) x \(rows)\(hasUnicode ? "" : ", ASCII")" }
  }

  static let terminals = [
    Terminal(columns: 40, rows: 10), Terminal(columns: 80, rows: 24),
    Terminal(columns: 200, rows: 60), Terminal(columns: 80, rows: 24, hasUnicode: false),
    Terminal(columns: 1, rows: 1), Terminal(columns: 12, rows: 40),
  ]

  /// Names as they may occur in files, tags and server responses.
  static let names = [
    "note.wav", String(repeating: "long", count: 100), "日本語の名前とても長い名前.wav",
    "e" + String(repeating: "\u{301}", count: 50), "a" + String(repeating: "\u{200D}", count: 300),
    "\u{1B}[2J\u{1B}]0;title\u{7}", "\u{202E}wav.exe", "\t\r\n", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
  ]

  private func recording(_ name: String, channels: Int) -> LiveState {
    var state = LiveState()
    state.title = "Recording to \(name)"
    state.device = "\(name), 48000 Hz"
    state.clock = "1:01.5"
    state.left = "58:58 left"
    state.peaks = Array(repeating: -6, count: channels)
    state.means = Array(repeating: -20, count: channels)
    state.holds = Array(repeating: -3, count: channels)
    state.clips = Array(repeating: false, count: channels)
    state.xruns = 1
    state.lostFrames = 480
    state.diskSeconds = 600
    state.load = 0.0123
    state.keys = ["space pauses", "- + gain", "m marker", "s split", "? keys", "q ends"]
    return state
  }

  @Test func `a title that is wider than the terminal continues in the next line`() {
    var state = LiveState()
    state.title = "Overdubbing song.wav to take-1.wav, take 1 of 2"
    func lines(columns: Int, rows: Int) -> [String] {
      LiveScreen(columns: columns, rows: rows, hasUnicode: true).lines(state).map(\.text)
    }
    #expect(
      lines(columns: 40, rows: 24).prefix(2) == [
        "Overdubbing song.wav to take-1.wav,", "  take 1 of 2",
      ])
    #expect(lines(columns: 80, rows: 24).first == state.title)
  }

  private func playback(_ name: String) -> LiveState {
    var state = LiveState()
    state.title = "Playing \(name)"
    state.device = name
    state.clock = "1:01.5 of 3:00"
    state.states = ["backwards"]
    state.fraction = 0.34
    state.xruns = 2
    state.keys = ["space pauses", "arrows seek", "< > tracks", "q ends"]
    return state
  }

  /// Returns the maximum number of columns that a terminal needs for `line`: two for each scalar
  /// that is neither ASCII nor a bar character.
  private func columns(of line: String) -> Int {
    line.unicodeScalars.reduce(0) { $0 + ($1.isASCII || "█·▌".unicodeScalars.contains($1) ? 1 : 2) }
  }

  @Test(arguments: terminals, names)
  func `no line reaches the last column or contains control characters`(
    terminal: Terminal, name: String
  ) {
    let drawn = [
      terminal.screen.lines(recording(name, channels: 2)).map(\.text),
      terminal.screen.lines(recording(name, channels: 26)).map(\.text),
      terminal.screen.lines(playback(name)).map(\.text),
    ]
    for lines in drawn {
      #expect(!lines.isEmpty && lines.count <= max(1, terminal.rows))
      for line in lines {
        #expect(columns(of: line) <= max(1, terminal.columns - 1))
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        #expect(terminal.hasUnicode || line.allSatisfy(\.isASCII))
      }
    }
  }

  @Test func `a panel of 80 columns shows the whole state of a recording`() {
    let lines = Terminal(columns: 80, rows: 24).screen.lines(recording("note.wav", channels: 2))
      .map(\.text)
    #expect(lines[0] == "Recording to note.wav")
    #expect(lines[1] == "note.wav, 48000 Hz")
    #expect(lines[2] == "1:01.5, 58:58 left  1 xrun, 480 frames lost  disk full in 10:00")
    #expect(lines[3].hasSuffix("0 peak  hold   RMS dBFS") && lines[3].contains("-20"))
    #expect(lines[4].hasSuffix("|···   -6    -3   -20"))
    #expect(lines.count { $0.contains("▌") } == 2)
    #expect(lines[6] == "Audio thread 1.2 % busy")
    #expect(lines.last == "Keys: space pauses, - + gain, m marker, s split, ? keys, q ends")
  }

  @Test func `a panel without xruns states that, and shows the remaining disk time`() {
    var state = recording("note.wav", channels: 1)
    (state.xruns, state.diskSeconds) = (0, 100_000)
    let lines = Terminal(columns: 80, rows: 24).screen.lines(state).map(\.text)
    #expect(lines.contains("Audio thread 1.2 % busy, no xruns, disk full in 27 h"))
    state.diskSeconds = 400_000
    #expect(
      Terminal(columns: 80, rows: 24).screen.lines(state).contains { $0.text.hasSuffix("4 days") })
  }

  @Test func `only a channel that reached full scale is marked`() {
    var state = recording("note.wav", channels: 2)
    state.clips = [false, true]
    let lines = Terminal(columns: 80, rows: 24).screen.lines(state).map(\.text)
    #expect(!lines[4].contains("CLIP") && lines[5].hasSuffix(" CLIP"))
  }

  @Test func `text that does not fit in a line continues on the next`() {
    var state = recording("note.wav", channels: 2)
    state.states = ["PAUSED", "MUTED", "gain 12 dB"]
    let lines = Terminal(columns: 40, rows: 24).screen.lines(state).map(\.text)
    #expect(lines[2] == "1:01.5, 58:58 left  PAUSED  MUTED")
    #expect(lines[3] == "  gain 12 dB  1 xrun, 480 frames lost")
    #expect(lines[4] == "  disk full in 10:00")
    #expect(
      lines.suffix(2) == [
        "Keys: space pauses, - + gain, m marker,", "  s split, ? keys, q ends",
      ])
  }

  @Test func `fewer rows have fewer lines, and finally one line that begins with the time`() {
    let state = recording("note.wav", channels: 2)
    let counts = (1...24).map { Terminal(columns: 80, rows: $0).screen.lines(state).count }
    #expect(counts.contains(6) && counts.last == 8)
    let lines = Terminal(columns: 60, rows: 8).screen.lines(state).map(\.text)
    #expect(lines.count == 1)
    #expect(lines[0].hasPrefix("1:01.5, 58:58 left  1 xrun, 480 frames lost"))
  }

  @Test(arguments: 20...60)
  func `one line holds no part of a value`(columns: Int) {
    var state = recording("note.wav", channels: 2)
    (state.xruns, state.diskSeconds) = (0, nil)
    state.states = ["MUTED", "gain -12.5 dB"]
    let line = Terminal(columns: columns, rows: 8).screen.lines(state).map(\.text)[0]
    var rest = line[...]
    for known in ["1:01.5, 58:58 left", "1:01.5", "MUTED", "gain -12.5 dB", "-6 dB", "-6 dB"] {
      guard let range = rest.firstRange(of: known) else { continue }
      rest.removeSubrange(range)
    }
    #expect(rest.allSatisfy { " █▌|·".contains($0) }, "\(line)")
    #expect(line.contains("1:01.5"))
    if columns == 40 { #expect(line.contains("MUTED") && line.contains("gain -12.5 dB")) }
  }

  @Test func `the playback panel shows the position as a time and as a bar`() {
    let lines = Terminal(columns: 51, rows: 24).screen.lines(playback("song.flac")).map(\.text)
    #expect(lines[0] == "Playing song.flac")
    #expect(lines[2] == "1:01.5 of 3:00  backwards  2 xruns, 0 frames lost")
    #expect(lines[3] == String(repeating: "█", count: 17) + String(repeating: "·", count: 33))
    #expect(lines[4] == "Keys: space pauses, arrows seek, < > tracks, q")
    #expect(lines[5] == "  ends")
    let short = Terminal(columns: 51, rows: 8).screen.lines(playback("song.flac")).map(\.text)
    #expect(short == ["1:01.5 of 3:00  backwards  2 xruns, 0 frames lo"].map { $0 + "st" })
  }

  @Test(arguments: terminals)
  func `only meters are coloured, and only if colours are available`(terminal: Terminal) {
    for line in terminal.screen.lines(recording("\u{1B}[31m█", channels: 2)) {
      #expect(line.drawn(hasColour: false).text == line.text)
      let coloured = line.drawn(hasColour: true).text
      let sequences = ["\u{1B}[36m", "\u{1B}[33m", "\u{1B}[35m", "\u{1B}[39m"]
      let plain = sequences.reduce(coloured) { $0.replacing($1, with: "") }
      #expect(plain == line.text)
      #expect(coloured.contains("\u{1B}") == !line.meters.isEmpty)
      #expect(line.meters.isEmpty || coloured.contains("\u{1B}[39m"))
    }
  }

  @Test func `a meter is cyan up to -18 dBFS, yellow up to -6, then magenta`() {
    let text = String(repeating: "█", count: 10)
    let line = ScreenLine(text: "1 \(text) -3", meters: [2..<12]).drawn(hasColour: true)
    #expect(
      line.text == "1 \u{1B}[36m███████\u{1B}[33m██\u{1B}[35m█\u{1B}[39m -3")
  }

  @Test(arguments: [-1, 0, 1, 2, Double.infinity, -Double.infinity])
  func `the position bar never exceeds its width`(fraction: Double) {
    var state = playback("song.flac")
    state.fraction = fraction
    let lines = Terminal(columns: 40, rows: 24).screen.lines(state).map(\.text)
    #expect(lines.contains { $0.count == 39 && $0.allSatisfy { "█·".contains($0) } })
  }
}

@Suite struct MeterBallisticsTests {
  @Test func `a peak is held for two seconds, and a clip permanently`() {
    var meter = MeterBallistics()
    func follow(_ level: Double, _ seconds: Double) {
      meter.follow(MeterReading(peakDBFS: [level, -200], rmsDBFS: [-30, -200]), seconds: seconds)
    }
    follow(0, 0)
    follow(-40, 1.9)
    #expect(meter.holds == [0, -200] && meter.peaks == [-40, -200])
    follow(-40, 2.1)
    #expect(meter.holds == [-40, -200] && meter.clips == [true, false])
    meter.fall()
    #expect(meter.peaks == [-200, -200] && meter.means == [-200, -200])
    #expect(meter.holds == [-200, -200] && meter.clips == [true, false])
  }
}

@Suite struct LoadAverageTests {
  @Test func `the load is the average over the last second`() {
    var load = LoadAverage()
    func follow(_ cycles: Int, _ busy: UInt64, _ seconds: Double) {
      var moment = SessionSnapshot(
        frames: 0, readings: [], events: [], captureXruns: 0, playbackXruns: 0, lostFrames: 0)
      (moment.cycles, moment.busyNanoseconds) = (cycles, busy)
      load.follow(moment, seconds: seconds, periodSeconds: 0.01)
    }
    follow(10, 1_000_000, 0.1)
    #expect(load.value == nil)
    follow(100, 10_000_000, 1)
    #expect(abs((load.value ?? 0) - 0.01) < 1e-9)
    follow(200, 110_000_000, 2)
    #expect(abs((load.value ?? 0) - 0.1) < 1e-9)
  }
}

@Suite struct ProgressLineTests {
  @Test func `the remaining time is extrapolated from the progress after the first second`() {
    #expect(ProgressLine.text(done: 0.25, seconds: 10) == "25 %, 0:30 left")
    #expect(ProgressLine.text(done: 1, seconds: 10) == "100 %, 0:00 left")
    #expect(ProgressLine.text(done: 7, seconds: 10) == "100 %, 0:00 left")
    #expect(ProgressLine.text(done: 0.5, seconds: 0.9) == nil)
    #expect(ProgressLine.text(done: 0, seconds: 9) == nil)
    #expect(ProgressLine.text(done: 1e-300, seconds: 1e9) != nil)
  }
}
