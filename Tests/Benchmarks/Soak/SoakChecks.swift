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

/// The memory of this process through a soak: it must not grow after its first quarter. At some
/// moments a file more is open than at others, so that means are compared, of its second quarter
/// and its last.
struct SoakMemory {
  /// Frames of the whole soak.
  var frames = 0
  private var next = 0
  private var quarters = [MemoryMean](repeating: MemoryMean(), count: 4)

  /// Looks once in a second of 48,000 frames.
  mutating func look(at frame: Int) {
    guard frame >= next, frames > 0 else { return }
    next = frame + 48000
    quarters[min(3, 4 * frame / frames)].add(
      resident: Self.resident, allocated: Int(clamping: mallinfo2().uordblks))
  }

  /// Whether it has grown by less than 1 MiB.
  var isFlat: Bool {
    quarters.allSatisfy { $0.count > 0 }
      && quarters[3].resident - quarters[1].resident < 1024
      && quarters[3].allocated - quarters[1].allocated < 1024
  }

  /// What it was in its quarters.
  var sentence: String {
    let resident = quarters.map { String(Int(clamping: $0.resident)) }
    let allocated = quarters.map { String(Int(clamping: $0.allocated)) }
    return "means of its quarters in KiB: resident \(resident.joined(separator: ", ")),"
      + " allocated \(allocated.joined(separator: ", ")); the most resident was"
      + " \(quarters.map(\.most).max() ?? 0)"
  }

  private static var resident: Int {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
  }
}

/// Memory in KiB over a part of a soak.
struct MemoryMean {
  private(set) var count = 0
  private(set) var most = 0
  private var sum = (resident: 0, allocated: 0)

  /// Bytes at one moment.
  mutating func add(resident: Int, allocated: Int) {
    count += 1
    most = max(most, resident >> 10)
    sum = (sum.resident + resident, sum.allocated + allocated)
  }

  var resident: Double { Double(sum.resident) / Double(max(1, count)) / 1024 }
  var allocated: Double { Double(sum.allocated) / Double(max(1, count)) / 1024 }
}
