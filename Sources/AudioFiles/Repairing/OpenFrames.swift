/// Heads of FLAC frames for which no end was found yet, the newest some tens of thousands of them: more
/// than one or two is damage, or malice.
struct OpenFrames {
  struct Start {
    let place: Int
    let header: FLACFrameHeader
    /// What the running checksum said there.
    let mark: UInt16
  }

  /// What the head behind a frame must be like, and what the checksum must say there.
  private struct End: Hashable {
    let mark: UInt16
    let number: Int
    let isVariable: Bool
  }

  private static let room = 32768
  private var starts: [Start] = []
  /// The oldest start that each end belongs to.
  private var places: [End: Int] = [:]

  mutating func add(_ header: FLACFrameHeader, at place: Int, mark: UInt16) {
    if starts.count == Self.room { forgetHalf() }
    let start = Start(place: place, header: header, mark: mark)
    if places[Self.end(of: start)] == nil { places[Self.end(of: start)] = starts.count }
    starts.append(start)
  }

  mutating func removeAll() {
    starts.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// The start of the frame that comes out at `place`, where `header` begins the next.
  func start(
    endingAt place: Int, before header: FLACFrameHeader, mark: UInt16,
    _ longest: (FLACFrameHeader) -> Int
  ) -> Start? {
    let end = End(mark: mark, number: header.number, isVariable: header.isVariable)
    guard let start = places[end].map({ starts[$0] }), Self.fits(start, place, longest) else {
      return nil
    }
    return start
  }

  /// The start of the frame that comes out at `place`, where nothing follows.
  func start(
    endingAt place: Int, mark: UInt16, _ longest: (FLACFrameHeader) -> Int
  ) -> Start? {
    starts.first { $0.mark == mark && Self.fits($0, place, longest) }
  }

  private static func fits(
    _ start: Start, _ place: Int, _ longest: (FLACFrameHeader) -> Int
  ) -> Bool {
    let byteCount = place - start.place
    return byteCount > start.header.byteCount && byteCount <= longest(start.header)
  }

  private static func end(of start: Start) -> End {
    End(
      mark: start.mark, number: start.header.nextNumber, isVariable: start.header.isVariable)
  }

  private mutating func forgetHalf() {
    starts.removeFirst(starts.count / 2)
    places.removeAll(keepingCapacity: true)
    for (index, start) in starts.enumerated() where places[Self.end(of: start)] == nil {
      places[Self.end(of: start)] = index
    }
  }
}
