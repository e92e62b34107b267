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

  /// Mends one file after another. One that cannot be mended does not keep the others from it.
  func run() -> ExitStatus {
    var status = ExitStatus.done
    var isInterrupted = false
    var mendings: [Mending] = []
    let byteCounts = command.files.map { max(1, FileRemoval.byteCount(of: $0) ?? 0) }
    let allBytes = byteCounts.reduce(0, +)
    var doneBytes = 0
    for (index, file) in command.files.enumerated() {
      let ended: ExitStatus
      do throws(ToolFailure) {
        let mending = try inTermsOfTheTool { try mend(file) }
        mendings.append(mending)
        ended = tell(mending)
      } catch {
        error.of(file).report()
        ended = error.status
        isInterrupted = error.code == "interrupted"
      }
      if status == .done { status = ended }
      if isInterrupted { break }
      doneBytes += byteCounts[index]
      guard command.json, command.files.count > 1 else { continue }
      Terminal.tell(
        .progress(Double(doneBytes) / Double(allBytes), "bytes", [("path", .string(file))]))
    }
    // Where nothing could be read there is nothing to sum up.
    if command.json, !mendings.isEmpty || command.files.count > 1 {
      Terminal.tell(summary(mendings))
    }
    return status
  }

  /// What was found out about a file, and where it is whole now.
  private struct Mending {
    let finding: RepairFinding
    let repaired: String?

    /// Whether nothing more can be done.
    var isLost: Bool { !finding.wasSound && !finding.isMendable }

    var fields: [(String, JSON)] {
      [
        ("path", .string(finding.path)),
        ("repairedPath", repaired.map { .string($0) } ?? .null),
        ("fileFormat", .string(finding.fileFormat.name)), ("frames", .integer(finding.frames)),
        ("seconds", .number(finding.seconds)), ("sampleRate", .integer(finding.sampleRate)),
        ("headerFrames", finding.headerFrames.map { .integer($0) } ?? .null),
        ("wasSound", .bool(finding.wasSound)),
        ("problems", .array(finding.problems.map { .string($0) })),
      ]
    }
  }

  private func mend(_ path: String) throws -> Mending {
    let finding = try FileRepair.examine(path, wiped: wiped)
    guard finding.isMendable else { return Mending(finding: finding, repaired: nil) }
    if command.inPlace {
      try FileRepair.mendInPlace(finding)
      return Mending(finding: finding, repaired: path)
    }
    let target = command.output ?? FileName.insert("-repaired", into: path)
    try FileRepair.write(
      finding, to: target, overwrite: command.overwrite,
      isStopped: StopWish(graceMilliseconds: 0).isThere)
    return Mending(finding: finding, repaired: target)
  }

  /// Tells what came of one file; `.loss` where it is damaged and nothing could be done.
  private func tell(_ mending: Mending) -> ExitStatus {
    if command.json, command.files.count > 1 { Terminal.tell(Event("file", mending.fields)) }
    let sentence = sentence(mending.finding, mending.repaired)
    guard !mending.isLost else {
      ToolFailure(
        .loss, code: "notMendable", sentence, hint: "What lies around the damage can be played."
      ).of(mending.finding.path).report()
      return .loss
    }
    if !command.json, !command.quiet { Terminal.say("\(sentence)") }
    return .done
  }

  /// Of one file what is known of it; of several their sums and each.
  private func summary(_ mendings: [Mending]) -> Event {
    let findings = mendings.map(\.finding)
    let sums: [(String, JSON)] = [
      ("frames", .integer(findings.reduce(0) { $0 + $1.frames })),
      ("seconds", .number(findings.reduce(0) { $0 + $1.seconds })),
    ]
    let paths = mendings.compactMap { $0.repaired.map { JSON.string($0) } }
    return .summary(
      [("command", .string("repair"))] + (command.files.count == 1 ? mendings[0].fields : sums) + [
        ("paths", .array(paths)), ("files", .array(mendings.map { .fields($0.fields) })),
      ])
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
}
