import CRealtime
import Glibc

/// Keeps the program's memory from being paged out. Any thread but the audio thread.
public enum MemoryLock {
  /// Locks every page as it is first touched, now and later; pages never touched cost nothing.
  /// False where this user may not lock memory, which is no failure.
  @discardableResult
  public static func lockTouchedPages() -> Bool {
    guard mlockall(MCL_CURRENT | MCL_FUTURE | realtime_lock_on_fault) == 0 else { return false }
    guard leavesRoom else {
      munlockall()
      return false
    }
    return true
  }

  /// Lets go of the code that start-up needed, most of the program's memory: parsing the command
  /// line alone reads megabytes of it. What runs on comes back from the page cache at its first
  /// use. Before `lockTouchedPages`.
  public static func releaseStartUpCode() {
    linux_release_code()
  }

  /// Has malloc take each block of 32 KiB or more from the system, and give it back when it is
  /// freed. Otherwise what is small and stays, such as a line of a report, keeps the freed memory
  /// of decoders and files around it: over a day of playing and recording that adds up to
  /// megabytes. At the program's start; holds for all of the program.
  package static func separateLargeBlocks() {
    linux_separate_blocks(32 << 10)
  }

  /// Whether memory can still be had. The limit counts addresses, touched or not: under one that
  /// only just lets the lock pass, every later allocation and thread would fail.
  private static var leavesRoom: Bool {
    let byteCount = 1 << 30
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let probe = mmap(nil, byteCount, PROT_NONE, flags, -1, 0), probe != MAP_FAILED else {
      return false
    }
    munmap(probe, byteCount)
    return true
  }
}
