import AudioFiles

/// What a queue is to play at one turn: a file, an address, a decoder of yours, or several at once.
public struct QueueItem: Sendable {
  /// How several sources are heard.
  public enum Gathering: Sendable, Equatable {
    /// All at once, added up.
    case together
    /// One at a time, in step: the one with this number first.
    case alternatives(Int)
  }

  /// One source of an item.
  public struct Part: Sendable {
    /// What it is called before it is open.
    public var name: String
    /// How it is heard. Asked when it is open: times are frames at its own rate.
    public var settings: @Sendable (any SoundDecoder) throws(FileFailure) -> TrackSettings
    /// Opens it. Not on the audio thread; may wait for a network until `opening` is interrupted.
    public var open: @Sendable (_ opening: Opening) throws(FileFailure) -> any SoundDecoder

    /// Whether opening it may take long, as over a network.
    public var takesTime: Bool

    /// A source that `open` opens.
    public init(
      name: String, takesTime: Bool = false,
      settings: @escaping @Sendable (any SoundDecoder) throws(FileFailure) -> TrackSettings = {
        _ throws(FileFailure) in TrackSettings()
      },
      open: @escaping @Sendable (_ opening: Opening) throws(FileFailure) -> any SoundDecoder
    ) {
      self.name = name
      self.takesTime = takesTime
      self.settings = settings
      self.open = open
    }
  }

  private enum Sources: Sendable {
    case listed([Part])
    case described(@Sendable () -> Part)
  }

  private let sources: Sources
  /// How they are heard where there are several.
  public let gathering: Gathering

  /// Its sources.
  public var parts: [Part] {
    switch sources {
    case .listed(let parts): parts
    case .described(let part): [part()]
    }
  }

  /// An item of several sources.
  public init(_ parts: [Part], gathering: Gathering = .together) {
    sources = .listed(parts)
    self.gathering = gathering
  }

  /// An item of one source.
  public init(_ part: Part) {
    self.init([part])
  }

  /// An item of one source that is described each time it is asked for: of a list of a hundred thousand
  /// only their names are in memory.
  public init(describedBy part: @escaping @Sendable () -> Part) {
    sources = .described(part)
    gathering = .together
  }

  /// Its names, joined by ` + `.
  public var name: String { parts.map(\.name).joined(separator: " + ") }

  /// The same of which some parts were opened already: `decoders`, in their order.
  func reusing(_ decoders: [any SoundDecoder]) -> QueueItem {
    var parts = self.parts
    guard decoders.count == parts.count else { return self }
    for (index, decoder) in decoders.enumerated() {
      guard let restartable = decoder as? RestartableDecoder, restartable.canRestart else {
        continue
      }
      parts[index].restart(restartable)
    }
    return QueueItem(parts, gathering: gathering)
  }

  /// Opens all of it for a unit of this rate and these channels. Of several parts, those that cannot be
  /// opened are left out; throws where none can.
  func source(
    _ opening: Opening, sampleRate: Int, channelCount: Int
  ) throws(FileFailure) -> any QueueSource {
    let parts = self.parts
    var tracks: [Track] = []
    var numbers: [Int] = []
    var failures: [PartFailure] = []
    for (number, part) in parts.enumerated() {
      do throws(FileFailure) {
        let opened = try part.open(opening)
        let isKept = opened.supportsSeeking || opened is RestartableDecoder
        let decoder = isKept ? opened : RestartableDecoder(opened)
        tracks.append(
          try Track(
            decoder, sampleRate: sampleRate, channelCount: channelCount,
            settings: try part.settings(decoder)))
        numbers.append(number)
      } catch {
        failures.append(PartFailure(name: part.name, failure: error))
      }
    }
    guard let first = tracks.first else {
      throw failures.first?.failure
        ?? FileFailure(.cannotOpen, "There is nothing to play.", hint: "Name a source.")
    }
    guard parts.count > 1 else { return first }
    var chosen: Int?
    if case .alternatives(let number) = gathering { chosen = number }
    return TrackGroup(
      tracks, numbers: numbers, failures: failures, channelCount: channelCount, chosen: chosen)
  }
}
