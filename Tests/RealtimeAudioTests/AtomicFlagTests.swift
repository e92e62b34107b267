import RealtimeAudio
import Testing

@Suite struct AtomicFlagTests {
  @Test func `exactly one of several callers is the first`() async {
    let flag = AtomicFlag()
    let count = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<64 { group.addTask { flag.raiseFirst() } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(count == 1 && flag.isRaised)
  }

  @Test func `raiseFirst() returns false for a raised flag`() {
    let flag = AtomicFlag()
    #expect(!flag.isRaised)
    flag.raise()
    #expect(flag.isRaised && !flag.raiseFirst())
  }
}
