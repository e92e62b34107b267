import RealtimeAudio

/// A stopwatch that starts when it is created.
struct SteadyTime {
  private let began = HostClock.seconds

  var seconds: Double { HostClock.seconds - began }
}
