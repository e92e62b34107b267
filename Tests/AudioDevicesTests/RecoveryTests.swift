import Testing

@testable import AudioDevices

@Suite struct RecoveryTests {
  @Test(arguments: [0, 1, 479, 48000, 4_800_000])
  func `a gap consists of the elapsed time and the frames captured but not read`(frames: Int) {
    var clock = XrunGapEstimator()
    clock.note(captured: 64, taking: 64, at: 1_000_000_000)
    clock.open(unread: 100, at: 2_000_000_000)
    #expect(clock.isOpen)
    let later = 2_000_000_000 + UInt64(frames) * 1_000_000_000 / 48000
    #expect(clock.close(captured: 64, at: later, sampleRate: 48000) == max(0, 100 + frames - 64))
    #expect(!clock.isOpen)
  }

  @Test func `without a stop time the gap is measured from the last period`() {
    var clock = XrunGapEstimator()
    clock.note(captured: 80, taking: 64, at: 1_000_000_000)
    clock.open()
    #expect(clock.close(captured: 64, at: 1_100_000_000, sampleRate: 48000) == 16 + 4800 - 64)
  }

  @Test func `with a start time the gap is measured from the last period`() {
    var clock = XrunGapEstimator()
    for cycle in 1...100 {
      clock.note(captured: 64, taking: 64, at: 1_000_000_000 + UInt64(cycle) * 1_000_000)
    }
    clock.open(unread: 0, at: 1_000_000_000)
    #expect(clock.close(captured: 64, at: 1_200_000_000, sampleRate: 48000) == 4800 - 64)
  }

  @Test func `a stop before a wake-up that read nothing is the beginning of the gap`() {
    var clock = XrunGapEstimator()
    clock.note(captured: 64, taking: 64, at: 1_000_000_000)
    clock.note(captured: 100, taking: 64, at: 1_100_000_000)
    clock.undoRead(64)
    clock.open(unread: 100, at: 1_050_000_000)
    #expect(clock.close(captured: 64, at: 1_150_000_000, sampleRate: 48000) == 100 + 4800 - 64)
  }

  @Test(arguments: 0..<40)
  func `a device that moves in steps loses whole steps, however late it is read`(seed: Int) {
    // Ticks of 64 frames, each of which is read up to 100 microseconds late.
    var random = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    func time(_ frames: Int) -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return 1_000_000_000 + UInt64(frames) * 1_000_000 / 48 + random >> 33 % 100_000
    }
    var clock = XrunGapEstimator()
    for tick in 1...100 { clock.note(captured: 64, taking: 64, at: time(64 * tick)) }
    clock.open(unread: 8192, at: time(6400 + 8192))
    // After a stop of 0.3 seconds it starts again at a tick.
    let restart = 6400 + 14_400 / 64 * 64
    let lost = clock.close(captured: 64, at: time(restart + 64), sampleRate: 48000)
    #expect(lost == restart - 6400)
  }

  @Test(arguments: [1, 7, 9, 31, 33])
  func `a device that moves by single frames loses as many as the time indicates`(frames: Int) {
    var clock = XrunGapEstimator()
    for cycle in 1...8 {
      clock.note(captured: 64 + cycle % 3, taking: 64, at: UInt64(cycle) * 1_000_000)
    }
    clock.open(unread: 0, at: 2_000_000_000)
    let later = 2_000_000_000 + UInt64(14_400 + frames) * 1_000_000_000 / 48000
    let lost = clock.close(captured: 64, at: later, sampleRate: 48000)
    #expect(lost == 14_400 + frames - 64)
  }

  @Test func `a gap after a gap without a frame between them is one gap from the first stop`() {
    var clock = XrunGapEstimator()
    clock.open(unread: 100, at: 2_000_000_000)
    clock.open(unread: 0, at: 2_500_000_000)
    clock.open()
    #expect(clock.close(captured: 64, at: 3_000_000_000, sampleRate: 48000) == 100 + 48000 - 64)
  }

  @Test func `frames that finally could not be read are part of the gap`() {
    var clock = XrunGapEstimator()
    clock.note(captured: 64, taking: 64, at: 1_000_000_000)
    clock.undoRead(64)
    clock.open()
    #expect(clock.close(captured: 64, at: 1_100_000_000, sampleRate: 48000) == 64 + 4800 - 64)
  }

  @Test(arguments: [-300, -1, 0, 1, 64])
  func `the error of a start latency is found`(error: Int) {
    var proof = StartLatencyCheck(expected: 128)
    var verdicts: [Int] = []
    while proof.isOpen { verdicts.append(proof.judge(captured: 64, queued: 64 + error)) }
    #expect(verdicts.dropLast().allSatisfy { $0 == 0 })
    #expect(verdicts.last == error)
  }
}
