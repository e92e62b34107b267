import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions

/// The number of times that a range is played, or `forever`.
enum LoopOption: ExpressibleByArgument {
  case times(Int)
  case forever

  init?(argument: String) {
    if argument == "forever" {
      self = .forever
    } else if let times = NumberParser.whole(argument), OptionRanges.loops.contains(times) {
      self = .times(times)
    } else {
      return nil
    }
  }

  /// The number of times; nil for `forever`.
  var count: Int? {
    if case .times(let times) = self { return times }
    return nil
  }
}

/// A range of a file: `TIME,TIME`.
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

/// The playback speed as a factor, one of `TrackSettings.speeds`.
struct SpeedOption: ExpressibleByArgument {
  let speed: Double

  init(_ speed: Double) { self.speed = speed }

  init?(argument: String) {
    guard let speed = NumberParser.decimal(argument), TrackSettings.speeds.contains(speed) else {
      return nil
    }
    self.speed = speed
  }

  var defaultValueDescription: String { "\(Int(clamping: speed))" }
}

/// The options for the range of each file that is played, its repeats, direction and speed.
struct RangeOptions: ParsableArguments {
  @Option(help: .init("Start each file at this time.", valueName: "time"))
  var start: TimeOption?

  @Option(help: .init("Stop each file at this time.", valueName: "time"))
  var end: TimeOption?

  @Option(help: .init("Play only this part of each file: start and end.", valueName: "time,time"))
  var region: RegionOption?

  @Option(
    help: .init("Play the region, or the whole file, this many times.", valueName: "n|forever"))
  var loop: LoopOption?

  @Flag(help: "Play each file backwards.")
  var reverse = false

  @Option(
    help: .init(
      "Playback speed, \(TrackSettings.speeds.boundsText); the pitch changes with it.",
      valueName: "x"))
  var speed = SpeedOption(1)

  /// Whether all options have their default values.
  var isPlain: Bool {
    start == nil && end == nil && region == nil && loop == nil && !reverse && speed.speed == 1
  }

  func validate() throws {
    try require(
      region == nil || (start == nil && end == nil),
      "--region cannot be used with --start or --end: it has a start and an end.")
  }

  /// Throws `.invalidRequest` if the end is not after the start, whatever the rate.
  func checkOrder() throws(FileFailure) {
    let (start, end) = (region?.start ?? start, region?.end ?? end)
    guard let start, let end, start.isSeconds == end.isSeconds else { return }
    guard start.seconds(at: 1) < end.seconds(at: 1) else { throw Self.wrongOrder(of: "the region") }
  }

  /// Warns about an option for a range that has no effect, because the name of every source has
  /// the range itself.
  func warnOfNamedRanges(of sources: SourceList) {
    guard start != nil || end != nil || region != nil else { return }
    let haveStarts = sources.allSatisfy { $0.start != nil }
    let haveEnds = sources.allSatisfy { $0.end != nil }
    let options = [
      ("start", start != nil && haveStarts), ("end", end != nil && haveEnds),
      ("region", region != nil && haveStarts && haveEnds),
    ]
    let set = Set(DefaultOption.current.map(\.option))
    for (option, isIgnored) in options where isIgnored && !set.contains(option) {
      warn(
        "optionIgnored", "--\(option) has no effect here.",
        hint: "The times in the name of the source count: SOURCE#t=START,END.")
    }
  }

  private static func wrongOrder(of region: String) -> FileFailure {
    FileFailure(
      .invalidRequest, "The end of \(region) must be after its start.",
      hint: "Give the earlier time first.")
  }

  /// Throws `.invalidRequest` if the requested range begins at or after the end of the source.
  func check(_ source: OpenedSource, _ address: SourceAddress) throws(FileFailure) {
    let range = try settings(at: source.sampleRate, of: address).range
    guard let frameCount = source.frameCount, frameCount > 0, range.startFrame >= frameCount else {
      return
    }
    throw .endsBeforeStart(address.name)
  }

  /// Returns the track settings for a file with the sample rate `rate`. A range in the name of the
  /// file takes precedence over that of the options. Throws `.invalidRequest` if the end is not
  /// after the start.
  func settings(
    at rate: Int, of source: SourceAddress? = nil
  ) throws(FileFailure) -> TrackSettings {
    let first = (source?.start ?? region?.start ?? start)?.frameCount(at: rate) ?? 0
    let end = (source?.end ?? region?.end ?? end)?.frameCount(at: rate)
    guard end.map({ $0 > first }) ?? true else {
      let named = source.flatMap { $0.start != nil || $0.end != nil ? $0.name : nil }
      throw Self.wrongOrder(of: named.map { "the region of \($0)" } ?? "the region")
    }
    var settings = TrackSettings()
    settings.range = PlaybackRange(
      startFrame: first, endFrame: end, times: loop.map(\.count) ?? 1, isReversed: reverse)
    settings.speed = speed.speed
    return settings
  }
}
