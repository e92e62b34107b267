import LinuxSystem

/// The checks of sound servers: which ones are running, and how much latency they add.
struct ServerChecks {
  private let machine: Machine
  private let servers: [RunningProgram]
  /// The plugin of the sound server that ALSA's default device uses; nil if it uses none.
  private let defaultServer: String?

  init(_ machine: Machine, defaultServer: String?) {
    self.machine = machine
    self.defaultServer = defaultServer
    servers = RunningProgram.all(named: SoundServers.names, machine.files)
  }

  var findings: [Finding] {
    guard !servers.isEmpty else {
      if let defaultServer { return [absent(defaultServer)] }
      return [
        Finding(.fine, "noServer", "No sound server runs: programs open the cards themselves.")
      ]
    }
    return servers.map { server in
      guard !server.isHalted(machine.files) else { return stopped(server) }
      switch server.name {
      case "pipewire": return pipewire(server)
      case "pulseaudio": return pulseaudio(server)
      default: return jack(server)
      }
    }
  }

  private func absent(_ plugin: String) -> Finding {
    Finding(
      .warning, "defaultServer",
      "ALSA's default device uses a sound server (with ALSA's plugin \(plugin)), and none runs.",
      remedy: plugin == "jack"
        ? "Start JACK, or open a card itself."
        : "Start it: systemctl --user start pipewire wireplumber, or pulseaudio --start. Or open a "
          + "card itself.")
  }

  private func stopped(_ server: RunningProgram) -> Finding {
    Finding(
      .problem, "serverStopped",
      "\(server.description) is stopped, and so is every program that plays through it.",
      remedy: server.name == "pipewire"
        ? "Start it again: systemctl --user restart pipewire."
        : "Continue it with kill -CONT \(server.process), or end it.")
  }

  /// The number of frames that a server processes at a time.
  private struct Quantum {
    let frames: Int
    let sampleRate: Int

    var description: String {
      let length = Milliseconds(Double(frames) * 1000 / Double(sampleRate))
      return "\(frames) frames at \(sampleRate) Hz (\(length))"
    }

    init?(frames: Int?, sampleRate: Int?) {
      guard let frames, let sampleRate, frames > 0, sampleRate > 0 else { return nil }
      self.frames = frames
      self.sampleRate = sampleRate
    }
  }

  private func pipewire(_ server: RunningProgram) -> Finding {
    switch machine.runProgram(["pw-metadata", "-n", "settings"]) {
    case .timedOut:
      return Finding(
        .problem, "serverSilent", "\(server.description) does not answer.",
        remedy: "Start it again: systemctl --user restart pipewire.")
    case .failed:
      return Finding(
        .notice, "server",
        "\(server.description) runs; its quantum is unknown, as pw-metadata did not report it.",
        remedy: "Run doctor as the user whose desktop it is, with pipewire-bin installed.")
    case .text(let settings):
      return pipewire(server, settings)
    }
  }

  private func pipewire(_ server: RunningProgram, _ settings: String) -> Finding {
    let rate = Self.number("clock.rate", settings)
    let forced = Self.number("clock.force-quantum", settings) ?? 0
    if let quantum = Quantum(frames: forced, sampleRate: rate) {
      return Finding(
        quantum.frames > 256 ? .warning : .notice, "serverQuantum",
        "\(server.description) is held at a quantum of \(quantum.description).",
        remedy: quantum.frames > 256
          ? "Let programs choose: pw-metadata -n settings 0 clock.force-quantum 0." : "")
    }
    guard let quantum = Quantum(frames: Self.number("clock.quantum", settings), sampleRate: rate)
    else {
      return Finding(.notice, "server", "\(server.description) runs; it reports no quantum.")
    }
    let minimum = Self.number("clock.min-quantum", settings) ?? 1
    return Finding(
      minimum > 256 ? .warning : .notice, "serverQuantum",
      "\(server.description) has a quantum of \(quantum.description), or less where a program "
        + "asks for it, but at least \(minimum) frames.",
      remedy: minimum > 256
        ? "Allow less: pw-metadata -n settings 0 clock.min-quantum 64."
        : "Ask for less with -p, as -p 128, or open the card itself.")
  }

  /// Parses a number in the format of pw-metadata: `update: id:0 key:'clock.rate' value:'48000'
  /// type:''`.
  private static func number(_ key: String, _ settings: String) -> Int? {
    for line in settings.split(separator: "\n") {
      let words = line.split(separator: "'", omittingEmptySubsequences: false)
      guard words.count > 3, words[1] == key else { continue }
      return Int(words[3])
    }
    return nil
  }

  private func pulseaudio(_ server: RunningProgram) -> Finding {
    Finding(
      .warning, "serverBuffer",
      "\(server.description) adds its own buffer of 25 ms or more in each direction.",
      remedy: "Take the card from it for a while: pasuspender -- duplex monitor -D hw:CARD=NAME.")
  }

  /// Reads the period and the rate from a command line such as `jackd -d alsa -p128 -r 48000`.
  private func jack(_ server: RunningProgram) -> Finding {
    let words = server.arguments(machine.files)
    let quantum = Quantum(
      frames: Self.option(["-p", "--period"], words) ?? 1024,
      sampleRate: Self.option(["-r", "--rate"], words) ?? 48000)
    guard server.name == "jackd", let quantum else {
      return Finding(
        .notice, "server", "\(server.description) runs.",
        remedy: "Use the device jack of ALSA's plugin, or end it to open the card itself.")
    }
    return Finding(
      quantum.frames > 256 ? .warning : .notice, "serverQuantum",
      "\(server.description) has a period of \(quantum.description).",
      remedy: quantum.frames > 256
        ? "Start it with less, as jackd -d alsa -p 128, or end it to open the card itself."
        : "Use the device jack of ALSA's plugin, or end it to open the card itself.")
  }

  /// Returns the number after the last of these options: jackd also has a `-p` option before the
  /// options of its driver.
  private static func option(_ names: [String], _ words: [String]) -> Int? {
    var found: Int?
    for (index, word) in words.enumerated() {
      for name in names where word.hasPrefix(name) {
        let rest = word.dropFirst(name.count)
        let value = rest.isEmpty ? words.dropFirst(index + 1).first.map { $0[...] } ?? "" : rest
        found = Int(value.drop { $0 == "=" }) ?? found
      }
    }
    return found
  }
}
