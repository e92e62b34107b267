enum RealtimeKit {
  static func makeThisThreadRealtime(priority: Int) -> Int? { nil }
}
