import ArgumentParser
import AudioFiles

/// The options for a picture of the result.
struct ReportOptions: ParsableArguments {
  @Option(help: .init("Draw the result, as .svg or .html.", valueName: "file"))
  var report: String?

  @Flag(help: "Replace the report if it exists.")
  var overwrite = false

  func validate() throws {
    if let report, !isHTML(report), !report.lowercased().hasSuffix(".svg") {
      throw ValidationError("--report needs a name that ends in .svg or .html: \(report) does not.")
    }
  }

  /// Throws if the report could not be written after the measurement.
  func check(against inputs: InputFiles) throws(FileFailure) {
    guard let report else { return }
    try PicturePath.check(report, overwrite: overwrite, against: inputs.identities)
  }

  /// Writes the report if one is requested.
  func write(svg: () -> String, html: () -> String) throws(FileFailure) {
    guard let report else { return }
    try TextFile.write(isHTML(report) ? html() : svg(), to: report, overwrite: overwrite)
  }

  private func isHTML(_ path: String) -> Bool { path.lowercased().hasSuffix(".html") }
}

/// The check of the path at which a picture will be written.
enum PicturePath {
  /// Throws if the picture could not be written after the computation, or if it would replace one
  /// of its inputs.
  static func check(
    _ path: String, overwrite: Bool, against inputs: Set<FileIdentity>
  ) throws(FileFailure) {
    if let identity = FileIdentity(of: path), inputs.contains(identity) {
      throw FileFailure(
        .invalidRequest, "\(path) is read by this command and cannot be written to.",
        hint: "Choose another name.")
    }
    try OutputFolder.refuseFolder(at: path)
    try OutputFolder.check(for: path)
    guard overwrite || !SoundFileReader.exists(path) else { throw .exists(path) }
    try TextFile.checkWriting(path, overwrite: overwrite)
  }
}
