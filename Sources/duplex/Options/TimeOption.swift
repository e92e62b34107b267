import ArgumentParser
import AudioBasics

/// A time on the command line.
typealias TimeOption = WrittenTime

extension WrittenTime: ExpressibleByArgument {
  package init?(argument: String) { self.init(argument) }

  package var defaultValueDescription: String {
    switch self {
    case .seconds(let seconds): seconds.shown(2)
    case .frames(let frames): frames.shown(2) + "f"
    }
  }
}
