import AudioFiles

/// Access to the facts about a machine. A test provides those of another machine.
public struct Machine: Sendable {
  /// The files in which the system describes itself.
  public var files: SystemFiles
  /// Runs another program and returns its output; the program may not respond.
  public var asking: @Sendable (_ words: [String]) -> ProgramAnswer

  /// Creates access to this machine, or to one described by other files.
  public init(
    files: SystemFiles = SystemFiles(),
    asking: @escaping @Sendable (_ words: [String]) -> ProgramAnswer = {
      ProgramAnswer.asking($0, milliseconds: 700)
    }
  ) {
    self.files = files
    self.asking = asking
  }

  /// Whether this is a container, whose devices and permissions depend on its host.
  var isContainer: Bool {
    files.exists("/.dockerenv") || files.exists("/run/.containerenv")
      || files.exists("/run/systemd/container")
  }

  /// Returns whether this program has the capability with the number `capability`, as root has.
  func isCapable(of capability: Int) -> Bool {
    let mask = files.value(of: "CapEff", in: "/proc/self/status").flatMap { UInt64($0, radix: 16) }
    return mask.map { $0 >> UInt64(capability) & 1 == 1 } ?? false
  }
}

/// A running program.
struct RunningProgram: Hashable {
  let process: Int
  /// The name of the program, of which the kernel keeps 15 bytes.
  let name: String

  /// A description for sentences: `pipewire (process 812)`.
  var description: String { "\(name) (process \(process))" }

  /// Returns the programs with these names, sorted by process. A zombie (Z) has ended, and only
  /// waits until the program that started it asks for its status.
  static func all(named names: Set<String>, _ files: SystemFiles) -> [RunningProgram] {
    files.names(in: "/proc").compactMap { Int($0) }.sorted().compactMap { process in
      guard let name = files.line("/proc/\(process)/comm"), names.contains(name) else { return nil }
      let program = RunningProgram(process: process, name: name)
      return ["Z", "X"].contains(program.state(files)) ? nil : program
    }
  }

  /// Returns the program that owns the thread with this number; nil if it has ended.
  static func owning(thread: Int, _ files: SystemFiles) -> RunningProgram? {
    guard let group = files.value(of: "Tgid", in: "/proc/\(thread)/status"),
      let process = Int(group), let name = files.line("/proc/\(process)/comm")
    else { return nil }
    return RunningProgram(process: process, name: name)
  }

  /// Returns whether the program is stopped (T), or stopped by a debugger (t).
  func standsStill(_ files: SystemFiles) -> Bool { ["T", "t"].contains(state(files)) }

  /// Returns the letter of the program's state; an empty text if it is unknown.
  private func state(_ files: SystemFiles) -> String {
    files.value(of: "State", in: "/proc/\(process)/status").map { String($0.prefix(1)) } ?? ""
  }

  /// Returns the command line of the program as a list of words.
  func arguments(_ files: SystemFiles) -> [String] {
    (files.text("/proc/\(process)/cmdline", limit: 4096) ?? "").split(separator: "\0").map(
      String.init)
  }
}

/// The servers through which other programs play and record.
enum SoundServers {
  /// Their names as reported by the kernel.
  static let names: Set = ["pipewire", "pulseaudio", "jackd", "jackdbus"]
}
