import AudioDevices
import RealtimeAudio
import SimulatedDevices

/// An option that is set by a variable or a file instead of the command line.
struct DefaultOption: Sendable {
  /// The long name, without dashes.
  let option: String
  /// The value, or the values joined by commas, as they were set.
  let value: String
  /// The variable or the file that sets the option.
  let source: String
  /// The line in the file; nil for a variable.
  let line: Int?
  /// The words to be parsed.
  let words: [String]

  /// The fields for events.
  var fields: Fields {
    ["option": option, "value": value, "source": source, "line": line]
  }

  /// The place where the option is set, for messages.
  var location: String { line.map { "\(source), line \($0)" } ?? source }

  private var isDevice: Bool { option.hasSuffix("device") }

  /// Returns whether `failure` is about this option, or about the device that it names.
  func isMeant(in failure: ToolFailure) -> Bool {
    if failure.message.contains("--\(option) ") { return true }
    guard isDevice else { return false }
    switch failure.cause {
    case .device(let kind): return isDeviceMeant(in: failure, kind)
    // The file that a simulated device reads.
    case .file:
      let file = try? SimulatedDeviceSpecification(parsing: value).microphonePath
      return file.map { failure.message.names($0) } ?? false
    case nil: return false
    }
  }

  private func isDeviceMeant(in failure: ToolFailure, _ kind: DeviceFailure.Kind) -> Bool {
    guard SimulatedDeviceSpecification.isSimulated(value) else {
      return failure.message.names(value)
    }
    do throws(DeviceFailure) {
      _ = try SimulatedDeviceSpecification(parsing: value)
      // A simulated device is used for both directions, so no other device can have refused.
      return kind == .refused || failure.message.names(value)
    } catch {
      return error.message == failure.message
    }
  }

  /// Returns `failure` with hints to the places of the defaults that it is about, because the user
  /// did not type these options. A wrong usage may be due to any of them.
  static func naming(_ failure: ToolFailure) -> ToolFailure {
    let meant = current.filter { $0.isMeant(in: failure) }
    guard !meant.isEmpty else {
      let possible = current.filter { !$0.isDevice && !["json", "quiet"].contains($0.option) }
      guard failure.status == .usage, !possible.isEmpty else { return failure }
      let places = possible.map { "--\($0.option) (\($0.location))" }.joined(separator: ", ")
      return failure.adding(
        hint: "This run has defaults for \(places); --no-config leaves those of the file out.")
    }
    return failure.adding(
      hint: meant.map { "The default of --\($0.option) is set by \($0.location)." }
        .joined(separator: " "))
  }

  private static let applied = MutexBox<[DefaultOption]>([])

  /// The defaults of the running command.
  static var current: [DefaultOption] {
    get { applied.withLock { $0 } }
    set { applied.withLock { $0 = newValue } }
  }
}

extension String {
  /// Returns whether this sentence contains `name` as a whole, and not as a part of a longer word
  /// or name.
  fileprivate func names(_ name: String) -> Bool {
    ranges(of: name).contains { range in
      let before = self[..<range.lowerBound].last
      let after = self[range.upperBound...].prefix { !$0.isWhitespace }
      return before.map { $0.isWhitespace || $0 == "'" || $0 == "\"" } ?? true
        && (after.first == "'" || after.allSatisfy { ".,:;\"".contains($0) })
    }
  }
}
