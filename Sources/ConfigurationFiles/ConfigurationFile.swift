import CTOML

/// A setting in a file of settings.
public struct ConfigurationEntry: Sendable, Equatable {
  /// What kind of value stands there.
  public enum Kind: Sendable, Equatable {
    /// A text.
    case string
    /// A number.
    case number
    /// `true` or `false`.
    case boolean
    /// A time of day, which may stand for a length: `00:01:30`.
    case time
    /// A date.
    case date
    /// A table, an array in an array, or an empty array where a value is expected.
    case nested
  }

  /// The table it stands in; empty before the first.
  public var table: String
  /// The line with the table's name, from 1; 0 before the first table.
  public var tableLine: Int
  /// Its name.
  public var key: String
  /// Its line in the file, from 1.
  public var line: Int
  /// What kind of value it has; of an array, that of its first element that is no string.
  public var kind: Kind
  /// Whether it is an array.
  public var isList: Bool
  /// Its value as it is written, a string without its quotes; all of them of an array.
  public var values: [String]
}

/// The error in a text that is no file of settings: its line and what is wrong there.
public struct ConfigurationFailure: Error, Equatable {
  /// The line at which reading ended, from 1.
  public var line: Int
  /// What is wrong there.
  public var message: String
}

/// The contents of a file of settings: TOML, with tables one deep.
public struct ConfigurationFile: Sendable, Equatable {
  /// The settings, in the order of their lines.
  public let entries: [ConfigurationEntry]

  /// Reads `text`. Throws where it is not TOML.
  public init(parsing text: String) throws(ConfigurationFailure) {
    var collected = Collected()
    var error = [CChar](repeating: 0, count: 512)
    var text = text
    let line = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        withUnsafeMutablePointer(to: &collected) { collected in
          ctoml_read(
            ctoml_text(bytes: bytes.baseAddress, count: bytes.count), collected,
            { context, value in
              guard let context, let value = value?.pointee else { return }
              context.assumingMemoryBound(to: Collected.self).pointee.add(value)
            }, &error, error.count)
        }
      }
    }
    guard line == 0 else {
      let bytes = error.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
      throw ConfigurationFailure(
        line: Int(line), message: String(decoding: bytes, as: UTF8.self))
    }
    entries = collected.entries.sorted { $0.line < $1.line }
  }
}

/// The values as they come.
private struct Collected {
  private(set) var entries: [ConfigurationEntry] = []

  mutating func add(_ value: ctoml_value) {
    let (table, key) = (Self.text(value.table), Self.text(value.key))
    let kind = Self.kind(value.kind)
    let text = Self.text(value.text)
    if value.is_element != 0, let last = entries.last, last.table == table, last.key == key {
      entries[entries.count - 1].values.append(text)
      if kind != .string, last.kind == .string { entries[entries.count - 1].kind = kind }
    } else {
      entries.append(
        ConfigurationEntry(
          table: table, tableLine: Int(value.table_line), key: key, line: Int(value.line),
          kind: kind,
          isList: value.is_element != 0, values: [text]))
    }
  }

  private static func kind(_ number: Int32) -> ConfigurationEntry.Kind {
    switch UInt32(bitPattern: number) {
    case CTOML_STRING.rawValue: .string
    case CTOML_INTEGER.rawValue, CTOML_FLOAT.rawValue: .number
    case CTOML_BOOLEAN.rawValue: .boolean
    case CTOML_TIME.rawValue: .time
    case CTOML_DATE.rawValue: .date
    default: .nested
    }
  }

  private static func text(_ text: ctoml_text) -> String {
    guard let bytes = text.bytes else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: text.count), as: UTF8.self)
  }
}
