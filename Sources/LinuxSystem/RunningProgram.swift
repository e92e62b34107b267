/// A running program. Any thread but the audio thread.
package struct RunningProgram: Hashable, Sendable {
  /// The number of its process.
  package let process: Int
  /// The name of the program, of which the kernel keeps 15 bytes.
  package let name: String

  /// A description for sentences: `pipewire (process 812)`.
  package var description: String { "\(name) (process \(process))" }

  /// Returns the programs with these names, sorted by process. A zombie (Z) has ended, and only
  /// waits until the program that started it asks for its status.
  package static func all(named names: Set<String>, _ files: SystemFiles) -> [RunningProgram] {
    files.names(in: "/proc").compactMap { Int($0) }.sorted().compactMap { process in
      guard let name = files.line("/proc/\(process)/comm"), names.contains(name) else { return nil }
      let program = RunningProgram(process: process, name: name)
      return ["Z", "X"].contains(program.state(files)) ? nil : program
    }
  }

  /// Returns the program that has a substream of a sound card open, from the path of the kernel's
  /// `status` file of the substream; nil if none has.
  package static func holding(
    substream path: String, _ files: SystemFiles
  ) -> RunningProgram? {
    // The kernel reports the thread that opened the substream, and users know the program.
    files.value(of: "owner_pid", in: path).flatMap { Int($0) }
      .flatMap { owning(thread: $0, files) }
  }

  /// Returns the program that owns the thread with this number; nil if it has ended.
  private static func owning(thread: Int, _ files: SystemFiles) -> RunningProgram? {
    guard let group = files.value(of: "Tgid", in: "/proc/\(thread)/status"),
      let process = Int(group), let name = files.line("/proc/\(process)/comm")
    else { return nil }
    return RunningProgram(process: process, name: name)
  }

  /// Returns whether the program is stopped (T), or stopped by a debugger (t).
  package func isHalted(_ files: SystemFiles) -> Bool { ["T", "t"].contains(state(files)) }

  /// Returns the letter of the program's state; an empty text if it is unknown.
  private func state(_ files: SystemFiles) -> String {
    files.value(of: "State", in: "/proc/\(process)/status").map { String($0.prefix(1)) } ?? ""
  }

  /// Returns the command line of the program as a list of words.
  package func arguments(_ files: SystemFiles) -> [String] {
    (files.text("/proc/\(process)/cmdline", limit: 4096) ?? "").split(separator: "\0").map(
      String.init)
  }
}
