import AudioFiles

/// The names of a recording's files, one after the other.
///
/// A pattern with a percent sign is a pattern for strftime: `note-%Y%m%d-%H%M%S.wav`, with the time
/// of a file's first frame. Any other pattern is numbered: `take.wav` gives `take-001.wav`,
/// `take-002.wav`. A name that was used or is taken gets a further number, `-2`, so that such a
/// file is never overwritten.
struct SeriesNames {
  private let pattern: String
  private let isSeries: Bool
  private var count = 0
  /// The highest number assigned to each name that was taken.
  private var numbers: [String: Int] = [:]

  /// Creates names from `pattern`. If `isSeries` is false, the first one is the pattern itself.
  init(_ pattern: String, isSeries: Bool) {
    self.pattern = pattern
    self.isSeries = isSeries
  }

  /// Returns the name of the next file, which begins at `start` nanoseconds since 1970.
  mutating func next(at start: UInt64) -> String {
    count += 1
    if !isSeries, count == 1 { return pattern }
    if let name = timed(at: start) { return name }
    let digits = String(count)
    return FileName.insert(
      "-" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits, into: pattern)
  }

  /// Returns the name of a file that begins at `start` nanoseconds since 1970; nil if names do not
  /// depend on the time.
  func timed(at start: UInt64) -> String? {
    isSeries && pattern.contains("%") ? LocalTime(start).formatted(pattern) : nil
  }

  /// Returns `name` or, if it is taken, the same name with the first free number after the last one
  /// that was assigned.
  mutating func free(_ name: String, isTaken: (String) -> Bool) -> String {
    var path = name
    while isTaken(path) {
      let number = numbers[name, default: 1] + 1
      numbers[name] = number
      path = FileName.insert("-\(number)", into: name)
    }
    return path
  }

  /// Returns what `create` makes of `path`. If that name is reserved, or another program creates a
  /// file of it first, `path` becomes the next free name.
  mutating func claim<Made: ~Copyable>(
    _ path: inout String, isReserved: (String) -> Bool,
    create: (String) throws(FileFailure) -> Made
  ) throws(FileFailure) -> Made {
    let wanted = path
    var refused = Set<String>()
    while true {
      path = free(wanted) { refused.contains($0) || isReserved($0) }
      do throws(FileFailure) {
        return try create(path)
      } catch let error where error.remedy == .overwrite {
        refused.insert(path)
      }
    }
  }
}

extension SoundFileWriter {
  /// The reason for which the file has lost its name or did not get it, for messages.
  var lostNameCause: String {
    isNameTaken || isHidden ? "was made by another program" : "was deleted"
  }

  /// Writes a deleted file again as `path` or, if that name is taken, under its next free name, to
  /// which it sets `path`. If `isLast`, the file has no other chance: a name that is a link to a
  /// missing file counts as taken, and if the folder is gone for good or its disk is full, another
  /// folder takes the file.
  mutating func restore(
    as path: inout String, orNextOf names: inout SeriesNames, isLast: Bool
  ) throws(FileFailure) {
    let wanted = path
    var refusal: FileFailure?
    for place in [wanted] + (isLast ? OutputFolder.substitutes(for: wanted) : []) {
      path = place
      do throws(FileFailure) {
        return try names.claim(
          &path, isReserved: { SoundFileReader.exists($0) || isLast && FileStatus.isTaken($0) }
        ) { (name) throws(FileFailure) in try restore(as: name) }
      } catch {
        // The disk may have failed after the file got its name.
        guard isDeleted || isHidden else { throw error }
        refusal = refusal ?? error
      }
    }
    path = wanted
    if let refusal { throw refusal }
  }
}
