import CMalloc
import Foundation

/// The checks at the end of a soak test, printed one per line.
struct SoakChecks {
  private(set) var allHold = true

  /// Checks that `figure` equals `wanted`.
  mutating func same(_ name: String, _ figure: Int, _ wanted: Int) {
    holds("\(name): \(figure)", figure == wanted, "not \(wanted)")
  }

  /// Checks that `isTrue` holds; otherwise prints `why`.
  mutating func holds(_ name: String, _ isTrue: Bool, _ why: String) {
    print(isTrue ? "ok - \(name)" : "not ok - \(name): \(why)")
    allHold = allHold && isTrue
  }
}

/// The memory use of this process during a soak test. It must not grow after the first quarter. The
/// number of open files varies by one, so the means of the second and last quarters are compared.
struct SoakMemory {
  /// The number of frames of the whole test.
  var frames = 0
  private var next = 0
  private var quarters = [MemoryMean](repeating: MemoryMean(), count: 4)

  /// Measures the memory once per second of 48,000 frames.
  mutating func look(at frame: Int) {
    guard frame >= next, frames > 0 else { return }
    next = frame + 48000
    quarters[min(3, 4 * frame / frames)].add(
      resident: Self.resident, allocated: Int(clamping: mallinfo2().uordblks))
  }

  /// Whether the memory has grown by less than 1 MiB.
  var isFlat: Bool {
    quarters.allSatisfy { $0.count > 0 }
      && quarters[3].resident - quarters[1].resident < 1024
      && quarters[3].allocated - quarters[1].allocated < 1024
  }

  /// The means of the quarters as text.
  var sentence: String {
    let resident = quarters.map { String(Int(clamping: $0.resident)) }
    let allocated = quarters.map { String(Int(clamping: $0.allocated)) }
    return "means of its quarters in KiB: resident \(resident.joined(separator: ", ")),"
      + " allocated \(allocated.joined(separator: ", ")); the most resident was"
      + " \(quarters.map(\.maximum).max() ?? 0)"
  }

  private static var resident: Int {
    let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
  }
}

/// The mean memory use over a part of a soak test, in KiB.
struct MemoryMean {
  private(set) var count = 0
  private(set) var maximum = 0
  private var sum = (resident: 0, allocated: 0)

  /// Adds the memory use at one time, in bytes.
  mutating func add(resident: Int, allocated: Int) {
    count += 1
    maximum = max(maximum, resident >> 10)
    sum = (sum.resident + resident, sum.allocated + allocated)
  }

  var resident: Double { Double(sum.resident) / Double(max(1, count)) / 1024 }
  var allocated: Double { Double(sum.allocated) / Double(max(1, count)) / 1024 }
}
