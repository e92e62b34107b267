import Testing

@testable import AudioDevices

@Suite struct AddressTests {
  @Test(arguments: [
    ("hw:1,0", "hw:3,0"), ("hw:1", "hw:3"), ("plughw:1,0,2", "plughw:3,0,2"),
    ("hw:CARD=1,DEV=0", "hw:CARD=3,DEV=0"), ("hw:DEV=1,CARD=1", "hw:DEV=1,CARD=3"),
    ("sysdefault:CARD=USB", "sysdefault:CARD=3"), ("front:USB,1", "front:3,1"),
    ("default", "default"),
  ])
  func `the name of a card that returned under another number has that number`(
    name: String, now: String
  ) {
    #expect(HardwareAddress.name(name, onCard: 3) == now)
  }

  @Test(arguments: ["default", "pulse", "hw:77,0", "plug:default", "sim:clock=free", ""])
  func `a name that refers to no existing card has no known identity`(name: String) {
    #expect(!DeviceIdentity.isKnown(name))
  }
}
