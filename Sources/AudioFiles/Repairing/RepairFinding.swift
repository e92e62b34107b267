/// What is wrong with a sound file, and how much sound it holds.
public struct RepairFinding: Sendable {
  /// What the file is called.
  public let path: String
  /// What kind of file it is when it is mended.
  public let fileFormat: FileFormat
  /// Frames that are there.
  public let frames: Int
  /// Frames a second.
  public let sampleRate: Int
  /// Frames that the header announces; nil where it does not say, or cannot be read.
  public let headerFrames: Int?
  /// What is wrong, as parts of a sentence: "the header said 0".
  public let faults: [String]
  let plan: RepairPlan

  /// Whether nothing is wrong.
  public var wasSound: Bool { faults.isEmpty }
  /// Whether something can be done about it.
  public var isMendable: Bool { !plan.isEmpty }
  /// Whether only a copy can be mended, because bytes must move.
  public var needsCopy: Bool { !plan.fitsInPlace }
  /// How long the sound is.
  public var seconds: Double { Double(frames) / Double(sampleRate) }

  /// What is wrong, a sentence each.
  public var problems: [String] {
    faults.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
  }
}
