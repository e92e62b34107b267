import Testing

@testable import RealtimeAudio

@Suite struct MessageBusTests {
  @Test(arguments: [
    "unix:path=/no/such/bus", "no address at all", "", "unixexec:path=/bin/true",
    "tcp:host=127.0.0.1,port=1",
  ])
  func `a bus that does not exist cannot be connected`(address: String) {
    let isConnected = MessageBus.connected(to: address) != nil
    #expect(!isConnected)
  }
}
