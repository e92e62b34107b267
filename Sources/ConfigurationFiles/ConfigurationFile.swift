import CTOML

/// A setting in a configuration file.
public struct ConfigurationEntry: Sendable, Equatable {
  /// The kind of a value.
  public enum Kind: Sendable, Equatable {
    /// A string.
    case string
    /// A number.
    case number
    /// `true` or `false`.
    case boolean
    /// A time of day, which may represent a duration: `00:01:30`.
    case time
    /// A date.
    case date
    /// A table, an array in an array, or an empty array in place of a value.
    case nested
  }

  /// The name of its table, or empty before the first table.
  public var table: String
  /// The line of the table's name, from 1, or 0 before the first table.
  public var tableLine: Int
  /// The name of the setting.
  public var key: String
  /// The line of the setting in the file, from 1.
  public var line: Int
  /// The kind of its value. For an array, the kind of its first element that is not a string, if
  /// any.
  public var kind: Kind
  /// Whether the value is an array.
  public var isList: Bool
  /// The value as it is written, a string without its quotes. For an array, all of its elements.
  public var values: [String]
}

/// The error in a text that is not a valid configuration file: its line and a description.
public struct ConfigurationFailure: Error, Equatable {
  /// The line at which reading ended, from 1.
  public var line: Int
  /// A description of the error.
  public var message: String

  /// Whether a value is none of the types of TOML, as text without quotes is.
  public var isValueWithoutQuotes: Bool { message.contains("could not determine value type") }
}

/// The contents of a configuration file: TOML, with tables one level deep.
public struct ConfigurationFile: Sendable, Equatable {
  /// The settings, in the order of their lines.
  public let entries: [ConfigurationEntry]

  /// Parses `text`. Throws if it is not TOML.
  public init(parsing text: String) throws(ConfigurationFailure) {
    var collected = ParsedValues()
    var error = [CChar](repeating: 0, count: 512)
    var text = text
    let line = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        withUnsafeMutablePointer(to: &collected) { collected in
          ctoml_read(
            ctoml_text(bytes: bytes.baseAddress, count: bytes.count), collected,
            { context, value in
              guard let context, let value = value?.pointee else { return }
              context.assumingMemoryBound(to: ParsedValues.self).pointee.add(value)
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

/// The values in the order of parsing.
private struct ParsedValues {
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
