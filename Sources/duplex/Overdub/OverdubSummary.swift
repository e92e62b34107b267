import AudioBasics
import AudioSessions

/// The summary of an overdub: the files of all passes, and the figures of the last one.
struct OverdubSummary {
  private let takes: [RecordedTake]
  private let last: RecordedTake
  private let totals: SessionTotals
  /// The path of the mix; nil if none was written.
  private let mixPath: String?

  /// Creates the summary of `takes`; nil if there are none.
  init?(_ takes: [RecordedTake], totals: SessionTotals, mixPath: String?) {
    guard let last = takes.last else { return nil }
    self.takes = takes
    self.last = last
    self.totals = totals
    self.mixPath = mixPath
  }

  /// Prints the summary.
  func conclude() {
    let (outcome, plan, roundTrip) = (last.outcome, last.plan, last.roundTrip)
    let added = Double(last.addedFrames)
    // A pass that ended before the start of its take has no file.
    let paths = takes.filter(\.hasFrames).map(\.writtenPath)
    // With a mix there are two files; `path` is that of the take.
    let path: Fields = mixPath != nil && paths.count == 1 ? ["path": paths[0]] : [:]
    let rest =
      abs(plan.restFrames) < 0.0005 ? "" : ", \(plan.restFrames.shown(3)) frames not removed"
    // Two clocks, as those of a sound server, are held together with an error.
    let error = outcome.report.drift?.errorFrames ?? 0
    let apart =
      abs(error) < 0.5 ? "" : "; the clocks were \(abs(error).shown(1)) frames apart at the end"
    var recorded = RecordingReport()
    for take in takes { recorded.add(take.report) }
    var report = totals.report
    // The end of the backing is the normal end, unless the user requested an earlier one.
    if case .duration = report.stopReason, !plan.isShortened { report.stopReason = .end }
    let summary = CommandSummary(
      command: "overdub", recorded: recorded, failure: last.backingFailure,
      fields: .written(paths + [mixPath].compactMap(\.self)) + path + [
        "mixPath": mixPath,
        "alignmentFrames": (plan.alignmentFrames + added).digits(5),
        "alignmentRestFrames": plan.restFrames.digits(5),
        "roundTripFrames": (roundTrip.frames + added).digits(5),
        "latencySource": roundTrip.source.rawValue, "takeFrames": last.report.frames,
        "fromFrame": plan.region.lowerBound, "toFrame": plan.region.upperBound,
        "peakDBFS": last.report.levels.peakDBFS.map { $0.digits(2) },
      ],
      sentence: paths.isEmpty
        ? totals.isInterrupted ? nil : "Nothing was recorded: no take was kept or changed."
        : lengths(outcome.configuration.sampleRate, paths)
          + " \(Self.frames(plan.alignmentFrames + added)) of round trip removed "
          + "(\(roundTrip.source.rawValue)\(rest))\(apart).")
    outcome.with(report).conclude(summary)
  }

  private static func frames(_ count: Double) -> String {
    count == 1 ? "1 frame" : "\(count.shown(3)) frames"
  }

  /// Returns the frames that each take lost, with its name if there are several.
  private func losses(namesTakes: Bool) -> String {
    takes.filter(\.hasFrames).map { take in
      let gaps = take.report.gaps
      let lost = gaps.reduce(0) { $0 + $1.frames }
      guard lost > 0 else { return "" }
      return " \(lost.counted("frame")) lost in \(gaps.count.counted("gap"))"
        + (namesTakes ? " of \(take.writtenPath)," : ",")
    }.joined()
  }

  /// Returns the files that were written, with their length, and the intended length after an
  /// interruption.
  private func lengths(_ rate: Int, _ paths: [String]) -> String {
    let report = last.report
    func seconds(_ frames: Int) -> String { (Double(frames) / Double(rate)).shown(2) + " s" }
    let loss = losses(namesTakes: paths.count > 1)
    let written = paths.joined(separator: ", ")
    guard totals.isInterrupted else {
      return "\(written): \(seconds(report.frames)), \(report.frames.counted("frame")),\(loss)"
    }
    guard report.frames > 0 else { return "Interrupted: kept \(written)," }
    return "Interrupted: kept \(written), \(paths.count > 1 ? "of the last take " : "")"
      + "\(seconds(report.frames)) of \(seconds(last.plan.region.count)), \(report.frames.counted("frame")),\(loss)"
  }
}
