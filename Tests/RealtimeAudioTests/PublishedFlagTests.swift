import RealtimeAudio
import Testing

@Suite struct PublishedFlagTests {
  @Test(arguments: [false, true])
  func `what is published is seen by every view, also after the end of the flag`(isSet: Bool) {
    var flag = PublishedFlag(isSet)
    let one = flag.makeView()
    let other = flag.makeView()
    #expect(one.isSet == isSet)
    flag.publish(!isSet)
    #expect(one.isSet == !isSet)
    _ = consume flag
    #expect(other.isSet == !isSet)
  }
}
