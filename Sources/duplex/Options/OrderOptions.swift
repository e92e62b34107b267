import ArgumentParser
import AudioSessions

/// How often a stretch is played: a number, or `forever`.
enum LoopOption: ExpressibleByArgument {
  case times(Int)
  case forever

  init?(argument: String) {
    if argument == "forever" {
      self = .forever
    } else if let times = Int(argument), (1...1_000_000_000).contains(times) {
      self = .times(times)
    } else {
      return nil
    }
  }

  /// Nil for ever.
  var count: Int? {
    if case .times(let times) = self { return times }
    return nil
  }
}

/// A stretch of a file: `TIME,TIME`.
struct RegionOption: ExpressibleByArgument {
  let start: TimeOption
  let end: TimeOption

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let start = TimeOption(argument: String(parts[0])),
      let end = TimeOption(argument: String(parts[1]))
    else { return nil }
    self.start = start
    self.end = end
  }
}

/// Which part of each file is played, how often and in which direction.
struct OrderOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Begin at this time of each file.", valueName: "time"))
  var start: TimeOption?

  @Option(help: ArgumentHelp("End at this time of each file.", valueName: "time"))
  var end: TimeOption?

  @Option(help: ArgumentHelp("Play only this stretch of each file.", valueName: "time,time"))
  var region: RegionOption?

  @Option(
    help: ArgumentHelp(
      "Play the region, or the whole, so many times in all.", valueName: "n|forever"))
  var loop: LoopOption?

  @Flag(help: "Play backwards.")
  var reverse = false

  func validate() throws {
    guard region == nil || (start == nil && end == nil) else {
      throw ValidationError("--region names a start and an end: leave out --start and --end.")
    }
  }

  /// The order for a file of this rate. Throws where the end is not behind the start.
  func order(at rate: Int) throws(ToolFailure) -> PlayOrder {
    let first = (region?.start ?? start)?.frameCount(at: rate) ?? 0
    let end = (region?.end ?? end)?.frameCount(at: rate)
    guard end.map({ $0 > first }) ?? true else {
      throw ToolFailure(
        .usage, code: "usage", "The end of what is to be played is not behind its start.",
        hint: "Give the earlier time first.")
    }
    return PlayOrder(
      startFrame: first, endFrame: end, times: loop.map(\.count) ?? 1, isReversed: reverse)
  }
}
