import Glibc
import Testing

@testable import ProgramRuntime

/// Tests of signals. Each test sends them to its own thread, in which the watch has blocked them,
/// and reads them there, so that no other test's thread receives them.
@Suite struct SignalWatchTests {
  @Test(arguments: [
    (SIGINT, UserSignal.end), (SIGTERM, .end), (SIGHUP, .end), (SIGUSR1, .split), (SIGUSR2, .mark),
  ])
  func `each signal is reported as its request`(number: Int32, meaning: UserSignal) {
    let watch = SignalWatch()
    pthread_kill(pthread_self(), number)
    #expect(watch.wait(milliseconds: 1000) == .signal(meaning))
    #expect(watch.wait(milliseconds: 0) == .timeout)
  }

  @Test func `signals are received although no descriptor is left`() {
    let watch = SignalWatch(withoutDescriptor: ())
    #expect(watch.wait(milliseconds: 0) == .timeout)
    for (number, meaning) in [(SIGTERM, UserSignal.end), (SIGUSR1, .split), (SIGUSR2, .mark)] {
      pthread_kill(pthread_self(), number)
      #expect(watch.wait(milliseconds: 1000) == .signal(meaning))
    }
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    defer { for end in ends { close(end) } }
    #expect(watch.wait(milliseconds: 20, watching: ends[0]) == .timeout)
    write(ends[1], "q", 1)
    #expect(watch.wait(milliseconds: 1000, watching: ends[0]) == .readable)
  }

  @Test func `a descriptor is watched along with the signals`() {
    let watch = SignalWatch()
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    defer { for end in ends { close(end) } }
    #expect(watch.wait(milliseconds: 0, watching: ends[0]) == .timeout)
    write(ends[1], "q", 1)
    #expect(watch.wait(milliseconds: 1000, watching: ends[0]) == .readable)
    pthread_kill(pthread_self(), SIGUSR2)
    #expect(watch.wait(milliseconds: 1000, watching: ends[0]) == .signal(.mark))
  }

  @Test func `writing to a closed pipe returns EPIPE and does not end the process`() {
    let watch = SignalWatch()
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    close(ends[0])
    #expect(write(ends[1], "x", 1) == -1)
    #expect(errno == EPIPE)
    close(ends[1])
    #expect(watch.wait(milliseconds: 0) == .timeout)
  }
}
