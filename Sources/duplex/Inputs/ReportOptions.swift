import ArgumentParser
import AudioFiles

/// A picture of the result.
struct ReportOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Draw the result, as .svg or .html.", valueName: "file"))
  var report: String?

  @Flag(help: "Replace the report if it exists.")
  var overwrite = false

  func validate() throws {
    if let report, !report.hasSuffix(".svg"), !report.hasSuffix(".html") {
      throw ValidationError("--report draws .svg or .html; \(report) is neither.")
    }
  }

  /// Refuses, before anything is measured, a report that cannot be written afterwards.
  func check(against inputs: InputFiles) throws(FileFailure) {
    guard let report else { return }
    if let identity = FileIdentity(of: report), inputs.identities.contains(identity) {
      throw FileFailure(
        .invalidRequest, "\(report) is what is heard or listened to.", hint: "Choose another name.")
    }
    try OutputFolder.check(for: report)
    guard !overwrite, SoundFileReader.exists(report) else { return }
    throw FileFailure(
      .cannotCreate, "\(report) exists already.",
      hint: "Choose another name, or replace it with --overwrite.")
  }

  /// Writes it, where it is wanted.
  func write(svg: () -> String, html: () -> String) throws(FileFailure) {
    guard let report else { return }
    try TextFile.write(report.hasSuffix(".html") ? html() : svg(), to: report, overwrite: overwrite)
  }
}
