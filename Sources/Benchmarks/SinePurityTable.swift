import AudioFiles

/// Prints, as Markdown, how pure the sines in recordings are, a row for each channel of `files`;
/// false where one cannot be read.
func printSinePurity(files: [String]) -> Bool {
  print("| recording | sine | level | all but the sine, median | in three of four | breaks |")
  print("| --- | ---: | ---: | ---: | ---: | ---: |")
  for file in files {
    do {
      let recording = try RecordedSines(path: file)
      for sine in recording.channels { print("| \(file) | \(sine.cells) |") }
    } catch {
      print("\(error.message) \(error.hint)")
      return false
    }
  }
  return !files.isEmpty
}

extension RecordedSine {
  /// Its row, but for what it is called.
  fileprivate var cells: String {
    guard let hertz, let level else { return "none | | | | \(breaks)" }
    return "\(hertz.shown(1)) Hz | \(level.shown(2)) dB | \((-rest(atLeast: 0.5)).shown(1)) dB "
      + "| \((-rest(atLeast: 0.75)).shown(1)) dB | \(breaks)"
  }
}
