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
