import CRealtime

/// The service of Linux desktops that gives realtime priority to users who may not take it.
enum RealtimeKit {
  private static let service = BusService(
    name: "org.freedesktop.RealtimeKit1", path: "/org/freedesktop/RealtimeKit1",
    interface: "org.freedesktop.RealtimeKit1")

  /// Asks for SCHED_RR of `priority`, or of the highest the service gives, for the calling thread;
  /// returns what was given. Nil where there is no such service or it refuses.
  ///
  /// The price: from then on the kernel ends the program when a realtime thread computes for as
  /// long as the service allows, 200 ms as a rule, without ever sleeping.
  static func makeThisThreadRealtime(priority: Int) -> Int? {
    guard let bus = MessageBus.connected(to: MessageBus.systemAddress),
      let highest = bus.number(service, "MaxRealtimePriority")
    else { return nil }
    let microseconds = bus.number(service, "RTTimeUSecMax") ?? 200_000
    // The service looks for this limit first. Where a lower one is set already, this fails and
    // that one will do.
    linux_limit_realtime(UInt(max(1, microseconds)))
    let number = max(1, min(priority, highest))
    let isGranted = bus.succeeds(
      service, "MakeThreadRealtime",
      [.unsigned64(UInt64(linux_thread_number())), .unsigned32(UInt32(number))])
    return isGranted ? number : nil
  }
}
