import CMalloc
import Foundation

/// What was checked at the end of a soak, a line for each.
struct SoakChecks {
  private(set) var allHold = true

  /// `figure` is what it must be.
  mutating func same(_ name: String, _ figure: Int, _ wanted: Int) {
    holds("\(name): \(figure)", figure == wanted, "not \(wanted)")
  }

  /// `isTrue`, or else `why`.
  mutating func holds(_ name: String, _ isTrue: Bool, _ why: String) {
    print(isTrue ? "ok - \(name)" : "not ok - \(name): \(why)")
    allHold = allHold && isTrue
  }
}

/// The memory of this process through a soak: from its warm-up on it must not grow.
struct SoakMemory {
  /// Frames after which it has taken what it needs.
  var warmUp = 0
  private var next = 0
  private var first: (resident: Int, allocated: Int)?
  private var most = (resident: 0, allocated: 0)

  /// Looks once in a minute of 48,000 frames a second, from the warm-up on.
  mutating func look(at frame: Int) {
    guard frame >= max(next, warmUp) else { return }
    next = frame + 60 * 48000
    let now = (resident: Self.resident, allocated: Int(clamping: mallinfo2().uordblks))
    guard first != nil else {
      first = now
      most = now
      return
    }
    most = (max(most.resident, now.resident), max(most.allocated, now.allocated))
  }

  /// Whether it has grown by less than 1 MiB.
  var isFlat: Bool {
    guard let first else { return false }
    return most.resident - first.resident < 1 << 20 && most.allocated - first.allocated < 1 << 20
  }

  /// What it was, and the most that it came to.
  var sentence: String {
    guard let first else { return "its memory was never looked at" }
    return "resident \(first.resident >> 10) KiB and at most \(most.resident >> 10),"
      + " allocated \(first.allocated >> 10) KiB and at most \(most.allocated >> 10)"
  }

  private static var resident: Int {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
  }
}
