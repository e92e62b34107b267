import AudioDevices
import Testing

struct TwoClocksTests {
  private static let pairs: [(String?, String?, Bool)] = [
    ("default", "default", false), ("null", "null", false), ("mine", "yours", true),
    ("hw:NoSuchCard,0", "hw:OtherCard,0", true), ("hw:NoSuchCard,0", "hw:NoSuchCard,1", false),
    ("hw:31,0", "plughw:31,1", false),
    ("pulse:here", "jack:here", true), ("mine", nil, false), (nil, "yours", false),
  ]

  @Test(arguments: pairs)
  func `different devices have two clocks`(capture: String?, playback: String?, expected: Bool) {
    let request = DuplexRequest(captureDevice: capture, playbackDevice: playback)
    #expect(DevicePair.hasTwoClocks(request) == expected)
  }
}
