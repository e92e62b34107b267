import CRealtime

/// The service of Linux desktops that grants realtime priority to users who may not set it
/// themselves.
enum RealtimeKit {
  private static let service = BusService(
    name: "org.freedesktop.RealtimeKit1", path: "/org/freedesktop/RealtimeKit1",
    interface: "org.freedesktop.RealtimeKit1")

  /// Requests SCHED_RR for the calling thread, with `priority` or the highest priority that the
  /// service allows. Returns the granted priority; nil if the service is missing or refuses.
  ///
  /// As a consequence, the kernel ends the program if a realtime thread computes without sleeping
  /// for as long as the service allows, usually 200 ms.
  static func makeThisThreadRealtime(priority: Int) -> Int? {
    guard let bus = MessageBus.connected(to: MessageBus.systemAddress),
      let highest = bus.number(service, "MaxRealtimePriority")
    else { return nil }
    let microseconds = bus.number(service, "RTTimeUSecMax") ?? 200_000
    // The service first checks this limit. If a lower one is already set, this call fails and the
    // lower limit is sufficient.
    linux_limit_realtime(UInt(max(1, microseconds)))
    let number = max(1, min(priority, highest))
    let isGranted = bus.succeeds(
      service, "MakeThreadRealtime",
      [.unsigned64(UInt64(linux_thread_number())), .unsigned32(UInt32(number))])
    return isGranted ? number : nil
  }
}
