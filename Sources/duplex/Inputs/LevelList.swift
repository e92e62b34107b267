import ArgumentParser
import AudioBasics

/// Numbers for sources: one for all, or one for each, `-6,0,-3`.
protocol NumberList: ExpressibleByArgument {
  static var range: ClosedRange<Double> { get }
  var values: [Double] { get }
  init(values: [Double])
}

extension NumberList {
  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    let values = parts.compactMap { WrittenNumber.decimal($0) }
    guard values.count == parts.count, values.allSatisfy(Self.range.contains) else { return nil }
    self.init(values: values)
  }

  var defaultValueDescription: String { values.map { $0.shown(2) }.joined(separator: ",") }

  /// That of the source with this number.
  func value(for index: Int) -> Double {
    values.count == 1 ? values[0] : values.indices.contains(index) ? values[index] : 0
  }

  /// Throws where there are several, and not one for each of `count` sources.
  func check(_ option: String, _ count: Int) throws(ToolFailure) {
    guard values.count == 1 || values.count == count else {
      throw ToolFailure(
        .usage, code: "usage",
        "\(option) has \(values.count) values for \(count) source\(count == 1 ? "" : "s").",
        hint: "Give one value for all, or one for each.")
    }
  }
}

/// Gains in dB.
struct GainList: NumberList {
  static let range = -200.0...60.0
  let values: [Double]

  func gain(for index: Int) -> Float { Decibels.gain(value(for: index)) }
}

/// Places between left, -1, and right, 1.
struct PanList: NumberList {
  static let range = -1.0...1.0
  let values: [Double]
}
