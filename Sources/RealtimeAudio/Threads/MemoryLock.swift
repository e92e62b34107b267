import CRealtime
import Glibc

/// Keeps the program's memory from being paged out. Any thread except the audio thread.
public enum MemoryLock {
  /// Locks every page, now and later, when it is first touched; untouched pages need no memory.
  /// Returns false if this user may not lock memory, which is not an error.
  @discardableResult
  public static func lockTouchedPages() -> Bool {
    guard mlockall(MCL_CURRENT | MCL_FUTURE | realtime_lock_on_fault) == 0 else { return false }
    guard leavesRoom else {
      munlockall()
      return false
    }
    return true
  }

  /// Releases the memory of the code that start-up needed so far, that of the libraries included.
  /// It is most of the program's memory: parsing the command line alone loads megabytes. Code that
  /// still runs is loaded from the page cache at its next use. Call it after each step of the
  /// start-up, before `lockTouchedPages`: the peak is then that of the largest step.
  public static func releaseStartUpCode() {
    linux_release_code()
  }

  /// Makes `malloc` allocate each block of 32 KiB or more directly from the system, and return it
  /// when it is freed. Otherwise small and long-lived blocks, such as a line of a report, keep the
  /// freed memory of decoders and files around them: over a day of playback and recording this adds
  /// up to megabytes. Call it at the start of the program; it applies to the whole program.
  package static func separateLargeBlocks() {
    linux_separate_blocks(32 << 10)
  }

  /// Whether more memory can be allocated. The limit counts addresses, touched or not: under a
  /// limit that is just high enough for the lock, every later allocation and thread would fail.
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
