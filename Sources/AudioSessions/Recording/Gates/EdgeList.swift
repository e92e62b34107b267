/// The edges that are settled and were not yet asked for, in order.
struct EdgeList: Sendable {
  private var edges: [TakeEdge] = []
  /// Where the latest edge lies; 0 before the first.
  private(set) var lastFrame = 0

  /// An empty list with room for the edges of a long while.
  init() {
    edges.reserveCapacity(64)
  }

  /// The frame of the edge that is asked for next.
  var firstFrame: Int? { edges.first?.frame }

  mutating func add(_ edge: TakeEdge) {
    edges.append(edge)
    lastFrame = edge.frame
  }

  mutating func next() -> TakeEdge? {
    edges.isEmpty ? nil : edges.removeFirst()
  }
}
