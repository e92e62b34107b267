extension Fields: JSONValue { var json: JSON { .object(self) } }

/// The members of an object, in their order.
struct Fields: ExpressibleByDictionaryLiteral, Sendable {
  private(set) var members: [(name: String, value: JSON)]

  init(dictionaryLiteral elements: (String, any JSONValue)...) {
    members = elements.map { ($0, $1.json) }
  }

  init(_ members: [(name: String, value: JSON)]) { self.members = members }

  static func + (first: Fields, second: Fields) -> Fields { Fields(first.members + second.members) }

  static func += (first: inout Fields, second: Fields) { first.members += second.members }
}

/// An event for scripts: an object in one line that begins with the name of the event. With --json,
/// all lines on standard output are events.
struct Event {
  /// The event as JSON.
  let json: JSON

  /// Creates the event `name`.
  init(_ name: String, _ fields: Fields) {
    json = .object(Fields([("event", .string(name))] + fields.members))
  }

  /// Returns the event in the last line of a command.
  static func summary(_ fields: Fields) -> Event { Event("summary", fields) }

  /// Returns the event for the completed fraction of `what`, with further fields.
  static func progress(_ done: Double, _ what: String, _ fields: Fields = [:]) -> Event {
    Event("progress", ["done": done.digits(4), "what": what] + fields)
  }
}
