import AudioFiles

/// All that is asked of a machine. A test answers as another machine would.
public struct Machine: Sendable {
  /// The files in which it tells about itself.
  public var files: SystemFiles
  /// Asks another program, which may not answer.
  public var asking: @Sendable (_ words: [String]) -> ProgramAnswer

  /// This machine, or one that tells of itself in other files.
  public init(
    files: SystemFiles = SystemFiles(),
    asking: @escaping @Sendable (_ words: [String]) -> ProgramAnswer = {
      ProgramAnswer.asking($0, milliseconds: 700)
    }
  ) {
    self.files = files
    self.asking = asking
  }

  /// Whether this is a container, which has what its host gives it.
  var isContainer: Bool {
    files.exists("/.dockerenv") || files.exists("/run/.containerenv")
      || files.exists("/run/systemd/container")
  }

  /// Whether this program may do what root may, by the number of the capability.
  func isCapable(of capability: Int) -> Bool {
    let mask = files.value(of: "CapEff", in: "/proc/self/status").flatMap { UInt64($0, radix: 16) }
    return mask.map { $0 >> UInt64(capability) & 1 == 1 } ?? false
  }
}

/// A program that runs.
struct RunningProgram: Hashable {
  let process: Int
  /// Its name, of which the kernel keeps 15 bytes.
  let name: String

  /// For sentences: `pipewire (process 812)`.
  var description: String { "\(name) (process \(process))" }

  /// The programs of these names, by process.
  static func all(named names: Set<String>, _ files: SystemFiles) -> [RunningProgram] {
    files.names(in: "/proc").compactMap { Int($0) }.sorted().compactMap { process in
      guard let name = files.line("/proc/\(process)/comm"), names.contains(name) else { return nil }
      return RunningProgram(process: process, name: name)
    }
  }

  /// The program that the thread of this number belongs to; nil where it has ended.
  static func owning(thread: Int, _ files: SystemFiles) -> RunningProgram? {
    guard let group = files.value(of: "Tgid", in: "/proc/\(thread)/status"),
      let process = Int(group), let name = files.line("/proc/\(process)/comm")
    else { return nil }
    return RunningProgram(process: process, name: name)
  }

  /// Whether it is stopped (T), stopped by a debugger (t) or a zombie (Z).
  func standsStill(_ files: SystemFiles) -> Bool {
    ["T", "t", "Z"].contains(
      files.value(of: "State", in: "/proc/\(process)/status").map { $0.prefix(1) } ?? "")
  }

  /// The words it was started with.
  func arguments(_ files: SystemFiles) -> [String] {
    (files.text("/proc/\(process)/cmdline", limit: 4096) ?? "").split(separator: "\0").map(
      String.init)
  }
}

/// Programs through which others play and record.
enum SoundServers {
  /// Their names, as the kernel has them.
  static let names: Set = ["pipewire", "pulseaudio", "jackd", "jackdbus"]
}
