import AudioFiles

/// Mends one file after another, and says what came of it.
struct RepairRun {
  private let command: RepairCommand
  private let wiped: WipedHeader?

  init(_ command: RepairCommand) throws {
    self.command = command
    if let rate = command.rate, let channels = command.channels,
      let sampleFormat = command.sampleFormat
    {
      wiped = try WipedHeader(
        sampleRate: rate, channelCount: channels, sampleFormat: sampleFormat)
    } else {
      wiped = nil
    }
  }

  /// Mends `path`. The status is `.loss` where it is damaged and nothing could be done.
  func mend(_ path: String) throws -> ExitStatus {
    let finding = try FileRepair.examine(path, wiped: wiped)
    var repaired: String?
    if finding.isMendable {
      if command.inPlace {
        try FileRepair.mendInPlace(finding)
        repaired = path
      } else {
        let target = command.output ?? FileName.insert("-repaired", into: path)
        try FileRepair.write(
          finding, to: target, overwrite: command.overwrite,
          isStopped: StopWish(graceMilliseconds: 0).isThere)
        repaired = target
      }
    }
    let status: ExitStatus = finding.wasSound || finding.isMendable ? .done : .loss
    if command.json {
      Terminal.printLine(summary(finding, repaired).text)
    } else if !command.quiet || status == .loss {
      Terminal.say(sentence(finding, repaired))
    }
    return status
  }

  private func sentence(_ finding: RepairFinding, _ repaired: String?) -> String {
    let frames = finding.frames == 1 ? "1 frame" : "\(finding.frames) frames"
    let length = "\(frames) (\(finding.seconds.shown(3)) s)"
    if finding.wasSound { return "\(finding.path): intact, \(length)." }
    let faults = finding.faults.joined(separator: ", ")
    guard let repaired else { return "\(finding.path): \(length); \(faults)." }
    let place = repaired == finding.path ? "" : " Mended: \(repaired)."
    return "\(finding.path): \(length) recovered; \(faults).\(place)"
  }

  private func summary(_ finding: RepairFinding, _ repaired: String?) -> JSON {
    .event(
      "summary",
      [
        "command": .string("repair"), "path": .string(finding.path),
        "repairedPath": repaired.map { .string($0) } ?? .null,
        "fileFormat": .string(finding.fileFormat.name), "frames": .integer(finding.frames),
        "seconds": .number(finding.seconds), "sampleRate": .integer(finding.sampleRate),
        "headerFrames": finding.headerFrames.map { .integer($0) } ?? .null,
        "wasSound": .bool(finding.wasSound),
        "problems": .array(finding.problems.map { .string($0) }),
      ])
  }
}
