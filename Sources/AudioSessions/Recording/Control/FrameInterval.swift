/// Something that is due again and again, by frames.
struct FrameInterval {
  private let length: Int
  private var passed = 0

  /// Due each `length` frames; with `isDueAtOnce` with the first ones, too.
  init(_ length: Int, isDueAtOnce: Bool = false) {
    self.length = max(1, length)
    if isDueAtOnce { passed = self.length }
  }

  /// So many frames more went by.
  mutating func pass(_ frames: Int) {
    passed += frames
  }

  /// Whether it is due; then it begins anew.
  mutating func takeDue() -> Bool {
    guard passed >= length else { return false }
    passed = 0
    return true
  }
}
