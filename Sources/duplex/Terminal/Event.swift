/// An event for a script: an object in a line of its own that begins with its name. All that is
/// written to standard output with --json is one.
struct Event {
  /// The event as JSON.
  let json: JSON

  /// The event `name`.
  init(_ name: String, _ fields: [(String, JSON)]) {
    json = .fields([("event", .string(name))] + fields)
  }

  /// The same of pairs.
  init(_ name: String, _ fields: KeyValuePairs<String, JSON>) {
    self.init(name, fields.map { ($0.key, $0.value) })
  }

  /// The last line of a command.
  static func summary(_ fields: [(String, JSON)]) -> Event { Event("summary", fields) }

  /// How far `what` has come, of 1, and what else is known of it.
  static func progress(_ done: Double, _ what: String, _ fields: [(String, JSON)] = []) -> Event {
    Event("progress", [("done", .rounded(done, 4)), ("what", .string(what))] + fields)
  }
}
