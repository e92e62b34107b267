/// What tells one version of a file on a server from the next.
struct FileValidator: Equatable, Sendable {
  /// As sent, quotes included.
  var tag: String?
  var date: String?

  /// What `If-Range` may be given: a weak tag does not vouch for every byte.
  var condition: String? {
    if let tag, tag.hasPrefix("\"") { return tag }
    return date
  }

  var isEmpty: Bool { tag == nil && date == nil }

  /// Whether `other` is of another version, as far as one can tell.
  func differs(from other: FileValidator) -> Bool {
    if let tag, let otherTag = other.tag { return tag != otherTag }
    if let date, let otherDate = other.date { return date != otherDate }
    return false
  }
}
