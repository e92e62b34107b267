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

  private(set) var items: [QueueItem] = []
  /// The files on this machine among them.
  private(set) var paths: [String] = []
  /// Frames a second of the first source.
  private(set) var firstRate: Int?

  /// One item a source, or one of all where they are gathered. Throws what is wrong with a file, or
  /// with what is asked of it; an address is only looked at where it is the first.
  init(
    _ addresses: [SourceAddress], _ style: Style, gathering: QueueItem.Gathering? = nil
  ) throws {
    try style.gains.check("--gain", addresses.count)
    try style.pans.check("--pan", addresses.count)
    paths = addresses.filter { !$0.isRemote }.map(\.location)
    var parts: [QueueItem.Part] = []
    var firstFailure: FileFailure?
    for (index, named) in addresses.enumerated() {
      var address = named
      address.raw = style.raw
      address.isMixed = gathering != nil
      var opened: OpenedSource?
      if firstRate == nil || (!address.isPipe && !address.isRemote) {
        do throws(FileFailure) {
          let source = try SourceOpening.opened(address)
          try style.order.check(source, address)
          if firstRate == nil {
            firstRate = source.sampleRate
            opened = source
          }
        } catch {
          // One bad file spoils no folder: it is told at its turn.
          guard address.isFound, index + 1 < addresses.count || firstRate != nil else {
            throw firstFailure ?? error
          }
          firstFailure = firstFailure ?? error
        }
      }
      parts.append(Self.part(address, style, index, opened))
    }
    if let gathering {
      items = [QueueItem(parts, gathering: gathering)]
    } else {
      items = parts.map { QueueItem($0) }
    }
  }

  /// What is mixed into something else: everything named, at once. A name that stands for several
  /// files plays them one after the other only where it is the only one.
  init(
    mixing mixes: [MixOption], _ order: OrderOptions, pans: PanList = PanList(values: [0]),
    resamplerQuality: Int
  ) throws {
    let lists = try mixes.map { try SourceList([$0.path]).addresses }
    let gains = zip(mixes, lists).flatMap { mix, list in list.map { _ in mix.level.decibels } }
    try self.init(
      lists.flatMap { $0 },
      Style(
        order: order, gains: GainList(values: gains.isEmpty ? [0] : gains), pans: pans,
        resamplerQuality: resamplerQuality),
      gathering: mixes.count > 1 ? .together : nil)
  }

  private static func part(
    _ address: SourceAddress, _ style: Style, _ index: Int, _ opened: OpenedSource?
  ) -> QueueItem.Part {
    let gain = style.gains.gain(for: index)
    let pan = Float(style.pans.value(for: index))
    let order = style.order
    let quality = style.resamplerQuality
    return QueueItem.Part(
      name: address.name, takesTime: (address.isRemote || address.isPipe) && opened == nil,
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
