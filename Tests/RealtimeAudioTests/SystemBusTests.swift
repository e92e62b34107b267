import Testing

@testable import RealtimeAudio

@Suite struct SystemBusTests {
  @Test(arguments: ["unix:path=/no/such/bus", "no address at all", ""])
  func `a bus that is not there gives no answer`(address: String) {
    let isConnected = SystemBus.connected(to: address) != nil
    #expect(!isConnected)
  }
}
