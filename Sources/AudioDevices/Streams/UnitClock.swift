// Audio thread.
import AudioClocks

/// What a device knows of the clock that the unit's frames go by, beyond when its cycles came.
public struct UnitClock: BitwiseCopyable, Sendable {
  /// The clock.
  public let clock: FilteredClock
  /// What it shows when this cycle is due.
  public let due: Int
  /// Another one whenever the clock's frames were counted anew.
  public let numbering: Int

  /// A cycle that is due when `clock` shows `due`.
  @_noLocks
  public init(_ clock: FilteredClock, due: Int, numbering: Int) {
    self.clock = clock
    self.due = due
    self.numbering = numbering
  }
}
