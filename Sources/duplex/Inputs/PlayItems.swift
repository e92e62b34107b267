import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions
import RealtimeAudio

/// The sources that the user wants played, as items of a queue: checked before anything sounds.
struct PlayItems {
  /// How each source is played.
  struct Style {
    var range: RangeOptions
    var gains = PerSource(Gain.unity)
    var pans = PerSource(Pan())
    var resamplerQuality = 5
    /// What sources are that are bare samples.
    var raw: RawOption?
  }

  /// What all items are made from: of a list of a hundred thousand only their names are in memory.
  private final class Plan: QueueItemParts {
    let sources: SourceList
    let style: Style
    let isMixed: Bool
    /// The one that was opened ahead, by its place among them.
    let opened: [Int: OpenedSource]
    /// Why others were not, by theirs: told at their first turn, without another wait for their
    /// servers.
    let failures: [Int: MutexBox<FileFailure?>]

    init(
      _ sources: SourceList, _ style: Style, isMixed: Bool, opened: [Int: OpenedSource],
      failures: [Int: FileFailure]
    ) {
      self.sources = sources
      self.style = style
      self.isMixed = isMixed
      self.opened = opened
      self.failures = failures.mapValues { MutexBox($0) }
    }

    func part(at index: Int) -> QueueItem.Part {
      let address = PlayItems.address(index, sources, style, isMixed: isMixed)
      let opened = opened[index]
      let failure = failures[index]
      let isDecided = opened?.isThere == true || failure?.withLock { $0 != nil } == true
      let gain = style.gains[index]
      let pan = style.pans[index].place
      let range = style.range
      let quality = style.resamplerQuality
      return QueueItem.Part(
        name: address.name, takesTime: address.takesTime && !isDecided,
        settings: { decoder throws(FileFailure) in
          var settings = try range.settings(at: decoder.sampleRate, of: address)
          settings.gain = gain
          settings.pan = pan
          settings.resamplerQuality = quality
          return settings
        },
        open: { opening throws(FileFailure) in
          if let failure = failure?.withLock({ $0.take() }) { throw failure }
          if let opened { return try opened.take(opening) }
          return try SourceOpening.decoder(of: address, opening)
        })
    }
  }

  /// The items, in their order.
  let items: [QueueItem]
  /// What they are made from.
  let sources: SourceList
  /// Frames a second of the first source that was opened.
  let firstRate: Int?

  /// Sources of playlists and folders that are tried for the rate of the first, one after the
  /// other.
  private static let mostTried = 8
  /// Sources that are open at the same time.
  private static let mostMixed = 64

  /// One item a source, or one of all where they are gathered. Throws what is wrong with a file
  /// that the user named, or with what is asked of it; an address is only looked at where nothing
  /// before it could be opened.
  init(
    _ sources: SourceList, _ style: Style, mixMode: QueueItem.MixMode? = nil
  ) throws {
    try style.gains.check("--gain", sources.count)
    try style.pans.check("--pan", sources.count)
    self.sources = sources
    let isMixed = mixMode != nil
    if isMixed { try Self.checkMixed(sources.count) }
    var opened: [Int: OpenedSource] = [:]
    var failures: [Int: FileFailure] = [:]
    for index in sources.indices {
      let address = Self.address(index, sources, style, isMixed: isMixed)
      let isTried = opened.isEmpty && failures.count < Self.mostTried
      guard isTried || !(address.isFound || address.isPipe || address.isRemote) else { continue }
      do throws(FileFailure) {
        let source = try SourceOpening.opened(address)
        try style.range.check(source, address)
        if opened.isEmpty { opened[index] = source }
      } catch {
        failures[index] = error
        // One bad file spoils no folder, nor one bad address a queue: it is told at its turn.
        let isSpared = address.isFound || (address.isRemote && error.kind != .invalidRequest)
        guard isSpared, index + 1 < sources.count || !opened.isEmpty else {
          throw failures.min { $0.key < $1.key }?.value ?? error
        }
      }
    }
    firstRate = opened.values.first?.sampleRate
    let plan = Plan(sources, style, isMixed: isMixed, opened: opened, failures: failures)
    items =
      if let mixMode {
        [QueueItem(sources.indices.map(plan.part(at:)), mixMode: mixMode)]
      } else {
        sources.indices.map { QueueItem(of: plan, at: $0) }
      }
  }

  /// What is mixed into something else: everything named, at once. A name that stands for several
  /// files plays them one after the other only where it is the only one.
  init(
    mixing mixes: [MixOption], _ range: RangeOptions, pans: PerSource<Pan> = PerSource(Pan()),
    resamplerQuality: Int
  ) throws {
    try SourceList.checkPipes(mixes.map(\.path))
    var sources = try SourceList(mixes.prefix(1).map(\.path))
    var gains = mixes.first.map { mix in
      mixes.count == 1 ? [mix.gain] : sources.map { _ in mix.gain }
    }
    for mix in mixes.dropFirst() {
      let others = try SourceList([mix.path])
      try Self.checkMixed(sources.count + others.count)
      sources.append(others)
      gains? += others.map { _ in mix.gain }
    }
    try self.init(
      sources,
      Style(
        range: range, gains: PerSource(values: gains ?? [.unity]), pans: pans,
        resamplerQuality: resamplerQuality),
      mixMode: mixes.count > 1 ? .together : nil)
  }

  private static func checkMixed(_ count: Int) throws(ToolFailure) {
    guard count <= mostMixed else {
      throw ToolFailure.usage(
        "At most \(mostMixed) sources can be played at the same time.",
        hint: "Name fewer sources, or play the sources one after the other.")
    }
  }

  private static func address(
    _ index: Int, _ sources: SourceList, _ style: Style, isMixed: Bool
  ) -> SourceAddress {
    var address = sources[index]
    address.raw = style.raw
    address.isMixed = isMixed
    return address
  }
}

/// Values for sources: one for all, or one for each, `-6,0,-3`.
struct PerSource<Value: ExpressibleByArgument & Equatable & Sendable>: ExpressibleByArgument,
  Equatable,
  Sendable
{
  let values: [Value]

  /// `value` for all.
  init(_ value: Value) { values = [value] }

  init(values: [Value]) { self.values = values }

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    values = parts.compactMap { Value(argument: String($0)) }
    guard values.count == parts.count else { return nil }
  }

  var defaultValueDescription: String {
    values.map(\.defaultValueDescription).joined(separator: ",")
  }

  /// That of the source with this number.
  subscript(index: Int) -> Value { values[min(index, values.count - 1)] }

  /// Throws where there are several, and not one for each of `count` sources.
  func check(_ option: String, _ count: Int) throws(ToolFailure) {
    guard values.count == 1 || values.count == count else {
      throw ToolFailure.usage(
        "\(option) has \(values.count) values for \(count) source\(count == 1 ? "" : "s").",
        hint: "Give one value for all sources, or one for each source.")
    }
  }
}

/// A place between left, -1, and right, 1.
struct Pan: ExpressibleByArgument, Equatable {
  var place: Float = 0

  init() {}

  init?(argument: String) {
    guard let place = WrittenNumber.decimal(argument), (-1...1).contains(place) else { return nil }
    self.place = Float(place)
  }

  var defaultValueDescription: String { Double(place).shown(2) }
}
