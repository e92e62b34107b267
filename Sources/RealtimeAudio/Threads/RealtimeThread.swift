/// What a thread does: it owns the work while it runs and gives it back when joined.
public protocol RealtimeWork: ~Copyable {
  /// Does it all. Called once, on the thread.
  mutating func run()
}

/// The thread could not be made.
public struct ThreadFailure: Error, Sendable {
  /// One sentence that says why.
  public let message: String
}

/// A thread that owns move-only work: moved in when it starts, handed back by `join`.
///
/// With priority `.normal` it is a plain thread, for disk or network. Letting go of the value
/// without joining waits for the thread's end, then destroys the work.
public struct RealtimeThread<Work: RealtimeWork & ~Copyable & Sendable>: ~Copyable,
  @unchecked Sendable
{
  // @unchecked because the work belongs to the thread until it has ended, and to the one owner of
  // this value from then on.
  private let work: UnsafeMutablePointer<Work>
  // Unmanaged, because `join` gives the work away and ends the value without its `deinit`.
  private let thread: Unmanaged<POSIXThread>

  /// The priority the thread was given.
  public var granted: GrantedPriority { thread.takeUnretainedValue().granted }

  /// Starts the thread, and waits until it has asked for its priority and touched its stack.
  /// `name` is what `top -H` shows, its first 15 bytes.
  public init(
    name: String, priority: ThreadPriority, stackByteCount: Int = 262_144, _ work: consuming Work
  ) throws(ThreadFailure) {
    let place = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    place.initialize(to: work)
    self.work = place
    do throws(ThreadFailure) {
      let made = try POSIXThread(
        name: name, priority: priority, stackByteCount: stackByteCount,
        body: { place.pointee.run() })
      thread = Unmanaged.passRetained(made)
    } catch {
      place.deinitialize(count: 1)
      place.deallocate()
      throw error
    }
  }

  /// Ends the sleep the thread is in, if it is in one: a device that stands still never wakes it.
  public borrowing func interrupt() {
    thread.takeUnretainedValue().interrupt()
  }

  /// Waits for the thread's end and hands its work back.
  public consuming func join() -> Work {
    thread.takeRetainedValue().join()
    let done = work.move()
    work.deallocate()
    discard self
    return done
  }

  /// Leaves the thread to itself, with its work, for good: where it may never come back from what it
  /// is in, such as a driver that hangs.
  public consuming func abandon() {
    thread.takeUnretainedValue().abandon()
    discard self
  }

  deinit {
    thread.takeRetainedValue().join()
    work.deinitialize(count: 1)
    work.deallocate()
  }
}
