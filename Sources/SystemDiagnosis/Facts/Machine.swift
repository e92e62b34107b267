import LinuxSystem

/// Access to the facts about a machine. A test provides those of another machine.
public struct Machine: Sendable {
  /// The files in which the system describes itself.
  public var files: SystemFiles
  /// Runs another program and returns its output; the program may not end in time.
  public var runProgram: @Sendable (_ words: [String]) -> ProgramOutput

  /// Creates access to this machine, or to one described by other files.
  public init(
    files: SystemFiles = .ofThisMachine,
    runProgram: @escaping @Sendable (_ words: [String]) -> ProgramOutput = {
      ProgramOutput.run($0, timeoutMilliseconds: 700)
    }
  ) {
    self.files = files
    self.runProgram = runProgram
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

/// The servers through which other programs play and record.
enum SoundServers {
  /// Their names as reported by the kernel.
  static let names: Set = ["pipewire", "pulseaudio", "jackd", "jackdbus"]
}
