import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions
import RealtimeAudio

/// The sources to play as items of a queue. They are checked before playback starts.
struct PlayItems {
  /// The settings for the playback of the sources.
  struct Style {
    var range: RangeOptions
    var gains = PerSource(Gain.unity)
    var pans = PerSource(Pan())
    var resamplerQuality = 5
    /// The format of the sources if they are raw samples without a header; nil otherwise.
    var raw: RawOption?
  }

  /// The data from which the items are made: for a list of 100,000 sources only the names are in
  /// memory.
  private final class Plan: QueueItemParts {
    let sources: SourceList
    let style: Style
    let isMixed: Bool
    /// The source that was opened ahead, by its index.
    let opened: [Int: OpenedSource]
    /// The failures of sources that could not be opened ahead, by index. Each is thrown at the
    /// first turn of its source, without another wait for its server.
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
      let pan = style.pans[index].position
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

  /// The items in the order of playback.
  let items: [QueueItem]
  /// The sources of the items.
  let sources: SourceList
  /// The sample rate in Hz of the first source that was opened; nil if none was opened.
  let firstRate: Int?

  /// The largest number of failing sources of playlists, folders, pipes and servers that are tried
  /// to find the rate of the first one.
  private static let maximumFailures = 8
  /// The largest number of sources that are open at the same time.
  private static let maximumMixed = 64

  /// Creates one item for each source, or a single item with all sources if there is a `mixMode`.
  /// Throws if a file that the user named is unusable, if a setting does not fit it, or if the last
  /// source cannot be opened and no earlier one was. Sources that are found in lists, pipes and
  /// addresses are opened here only if no earlier source could be opened.
  init(
    _ sources: SourceList, _ style: Style, mixMode: QueueItem.MixMode? = nil
  ) throws {
    try style.gains.check("--gain", sources.count)
    try style.pans.check("--pan", sources.count)
    self.sources = sources
    let isMixed = mixMode != nil
    if isMixed { try Self.checkMixed(sources.count) }
    style.range.warnOfNamedRanges(of: sources)
    if style.raw != nil { Self.warnOfHeaders(of: sources) }
    var opened: [Int: OpenedSource] = [:]
    var failures: [Int: FileFailure] = [:]
    for index in sources.indices {
      let address = Self.address(index, sources, style, isMixed: isMixed)
      let isTried = opened.isEmpty && failures.count < Self.maximumFailures
      guard isTried || !(address.isFound || address.isPipe || address.isRemote) else { continue }
      do throws(FileFailure) {
        let source = try SourceOpening.opened(address)
        try style.range.check(source, address)
        if opened.isEmpty { opened[index] = source }
      } catch {
        failures[index] = error
        // An unusable file does not prevent the playback of a folder, nor an unusable address that
        // of a queue: the failure is reported at its turn.
        let isDeferred = address.isFound || (address.isRemote && error.kind != .invalidRequest)
        guard isDeferred, index + 1 < sources.count || !opened.isEmpty else {
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

  /// Creates the items that are mixed into another signal: all named files at the same time. A name
  /// of several files, such as a playlist, plays them one after the other only if it is the only
  /// name.
  init(
    mixing mixes: [MixOption], _ range: RangeOptions, pans: PerSource<Pan> = PerSource(Pan()),
    resamplerQuality: Int
  ) throws {
    try SourceList.checkPipes(mixes.map(\.path))
    var sources = try SourceList(mixes.prefix(1).map(\.path))
    var gains = mixes.first.map { mix in
      mixes.count == 1 ? [mix.gain] : sources.map { _ in mix.gain }
    }
    if mixes.count > 1, let first = mixes.first { Self.warnOfSeveral(sources, in: first) }
    for mix in mixes.dropFirst() {
      let others = try SourceList([mix.path])
      try Self.checkMixed(sources.count + others.count)
      Self.warnOfSeveral(others, in: mix)
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

  /// Warns that the several `sources` of `mix`, which is not alone, do not follow one another.
  private static func warnOfSeveral(_ sources: SourceList, in mix: MixOption) {
    guard sources.count > 1 else { return }
    warn(
      "playedTogether",
      "The \(sources.count) files of \(FileName.withoutUser(mix.path)) play at the same time, because --mix is repeated.",
      hint: "Name it alone to play its files one after the other.")
  }

  private static func checkMixed(_ count: Int) throws(ToolFailure) {
    guard count <= maximumMixed else {
      throw ToolFailure.usage(
        "At most \(maximumMixed) sources can be played at the same time.",
        hint: "Name fewer sources, or play the sources one after the other.")
    }
  }

  /// Warns about the first file with a header, which is played as samples.
  private static func warnOfHeaders(of sources: SourceList) {
    for address in sources where !(address.isFound || address.isPipe || address.isRemote) {
      guard let container = Decoding.container(ofFileAt: address.location) else { continue }
      return warn(
        "rawHeader", "\(address.name) is \(container), and its header is played as samples.",
        hint: "Leave out --raw to play its sound.")
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

/// Values for sources: one for all, or one for each, such as `-6,0,-3`.
struct PerSource<Value: ExpressibleByArgument & Equatable & Sendable>: ExpressibleByArgument,
  Equatable,
  Sendable
{
  let values: [Value]

  /// Uses `value` for all sources.
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

  /// The value for the source with this index.
  subscript(index: Int) -> Value { values[min(index, values.count - 1)] }

  /// Throws if there are several values, but not one for each of `count` sources.
  func check(_ option: String, _ count: Int) throws(ToolFailure) {
    guard values.count == 1 || values.count == count else {
      throw ToolFailure.usage(
        "\(option) has \(values.count) values for \(count.counted("source")).",
        hint: "Give one value for all sources, or one for each source.")
    }
  }
}

/// A stereo position between left, -1, and right, 1.
struct Pan: ExpressibleByArgument, Equatable {
  var position: Float = 0

  init() {}

  init?(argument: String) {
    guard let position = NumberParser.decimal(argument), OptionRanges.pans.contains(position)
    else { return nil }
    self.position = Float(position)
  }

  var defaultValueDescription: String { Double(position).shown(2) }
}
