import ArgumentParser
import AudioBasics
import AudioFiles
import AudioSessions

/// What the user wants played, as items of a queue: looked at before anything sounds.
struct PlayItems {
  /// How each source is heard.
  struct Style {
    var order: OrderOptions
    var gains = GainList(values: [0])
    var pans = PanList(values: [0])
    var resamplerQuality = 5
    /// What sources are that are bare samples.
    var raw: RawOption?
  }

  /// What all items are made from: of a list of a hundred thousand only their names are in memory.
  private final class Plan: Sendable {
    let addresses: [SourceAddress]
    let style: Style
    /// The one that was opened ahead, by its place among them.
    let opened: [Int: OpenedSource]

    init(_ addresses: [SourceAddress], _ style: Style, opened: [Int: OpenedSource]) {
      self.addresses = addresses
      self.style = style
      self.opened = opened
    }
  }

  /// The items, in their order.
  let items: [QueueItem]
  /// The files on this machine among them.
  let paths: [String]
  /// Frames a second of the first source that was opened.
  let firstRate: Int?

  /// Sources of playlists and folders that are tried for the rate of the first, one after the other.
  private static let mostTried = 8
  /// Sources that are open at the same time.
  private static let mostGathered = 64

  /// One item a source, or one of all where they are gathered. Throws what is wrong with a file that
  /// the user named, or with what is asked of it; an address is only looked at where it is the first.
  init(
    _ addresses: [SourceAddress], _ style: Style, gathering: QueueItem.MixMode? = nil
  ) throws {
    try style.gains.check("--gain", addresses.count)
    try style.pans.check("--pan", addresses.count)
    paths = addresses.filter { !$0.isRemote }.map(\.location)
    let isGathered = gathering != nil
    guard !isGathered || addresses.count <= Self.mostGathered else {
      throw ToolFailure(
        .usage, code: "usage",
        "\(addresses.count) sources cannot be heard at once: at most \(Self.mostGathered) can.",
        hint: "Name fewer, or play them one after the other.")
    }
    var opened: [Int: OpenedSource] = [:]
    var failures: [FileFailure] = []
    for index in addresses.indices {
      let address = addresses[index].taken(as: style.raw, isMixed: isGathered)
      let isTried = opened.isEmpty && failures.count < Self.mostTried
      guard isTried || !(address.isFound || address.isPipe || address.isRemote) else { continue }
      do throws(FileFailure) {
        let source = try SourceOpening.opened(address)
        try style.order.check(source, address)
        if opened.isEmpty { opened[index] = source }
      } catch {
        failures.append(error)
        // One bad file spoils no folder: it is told at its turn.
        guard address.isFound, index + 1 < addresses.count || !opened.isEmpty else {
          throw failures[0]
        }
      }
    }
    firstRate = opened.values.first?.sampleRate
    let plan = Plan(addresses, style, opened: opened)
    if let gathering {
      items = [
        QueueItem(addresses.indices.map { Self.part($0, of: plan, true) }, gathering: gathering)
      ]
    } else {
      items = addresses.indices.map { index in
        QueueItem(describedBy: { Self.part(index, of: plan, false) })
      }
    }
  }

  /// What is mixed into something else: everything named, at once. A name that stands for several
  /// files plays them one after the other only where it is the only one.
  init(
    mixing mixes: [MixOption], _ order: OrderOptions, pans: PanList = PanList(values: [0]),
    resamplerQuality: Int
  ) throws {
    let lists = try mixes.map { try SourceList([$0.path]).addresses }
    let gains =
      mixes.count == 1
      ? [mixes[0].level.decibels]
      : zip(mixes, lists).flatMap { mix, list in list.map { _ in mix.level.decibels } }
    try self.init(
      lists.count == 1 ? lists[0] : lists.flatMap { $0 },
      Style(
        order: order, gains: GainList(values: gains.isEmpty ? [0] : gains), pans: pans,
        resamplerQuality: resamplerQuality),
      gathering: mixes.count > 1 ? .together : nil)
  }

  private static func part(_ index: Int, of plan: Plan, _ isMixed: Bool) -> QueueItem.Part {
    let address = plan.addresses[index].taken(as: plan.style.raw, isMixed: isMixed)
    let opened = plan.opened[index]
    let gain = plan.style.gains.gain(for: index)
    let pan = Float(plan.style.pans.value(for: index))
    let order = plan.style.order
    let quality = plan.style.resamplerQuality
    return QueueItem.Part(
      name: address.name, takesTime: address.takesTime && opened == nil,
      settings: { decoder throws(FileFailure) in
        var settings = try order.settings(at: decoder.sampleRate, of: address)
        settings.gain = gain
        settings.pan = pan
        settings.resamplerQuality = quality
        return settings
      },
      open: { opening throws(FileFailure) in
        if let opened { return try opened.take(opening) }
        return try SourceOpening.decoder(of: address, opening)
      })
  }
}

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
