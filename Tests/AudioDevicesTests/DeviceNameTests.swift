import AudioDevices
import Testing

@Suite struct DeviceNameTests {
  private static let candidates: [DeviceCandidate] = {
    var list = [
      DeviceCandidate(
        name: "hw:CARD=PCH,DEV=0", title: "ALC257 Analog", card: "PCH", cardTitle: "HDA Intel PCH"),
      DeviceCandidate(
        name: "hw:CARD=PCH,DEV=3", title: "HDMI 0", card: "PCH", cardTitle: "HDA Intel PCH"),
      DeviceCandidate(
        name: "hw:CARD=USB,DEV=0", title: "USB Audio", card: "USB",
        cardTitle: "Scarlett 2i2 USB"),
      DeviceCandidate(
        name: "hw:CARD=Mic,DEV=0", title: "USB Audio", card: "Mic", cardTitle: "Blue Yeti"),
      DeviceCandidate(name: "studio", title: "ALSA plugin dsnoop"),
    ]
    list[1].canCapture = false
    list[3].canPlay = false
    return list
  }()

  private func resolve(_ part: String, isCapture: Bool = true) throws -> String {
    try DeviceNames.resolve(part, isCapture: isCapture, among: Self.candidates)
  }

  @Test(arguments: [
    ("scarlett", "hw:CARD=USB,DEV=0"), ("2I2 usb", "hw:CARD=USB,DEV=0"),
    ("yeti", "hw:CARD=Mic,DEV=0"), ("STUD", "studio"), ("analog", "hw:CARD=PCH,DEV=0"),
  ])
  func `part of a name, in either case, selects the only device that it matches`(
    part: String, name: String
  )
    throws
  {
    #expect(try resolve(part) == name)
  }

  @Test func `part of a card's name selects the card's first device`() throws {
    #expect(try resolve("pch", isCapture: false) == "hw:CARD=PCH,DEV=0")
  }

  @Test func `only devices of the requested direction are searched`() throws {
    #expect(try resolve("usb", isCapture: false) == "hw:CARD=USB,DEV=0")
    #expect(try resolve("hdmi", isCapture: false) == "hw:CARD=PCH,DEV=3")
    #expect(try resolve("hdmi") == "hdmi")
  }

  @Test func `the message lists the devices if several match`() {
    let failure = #expect(throws: DeviceFailure.self) { try resolve("usb") }
    #expect(failure?.kind == .invalidRequest)
    #expect(failure?.message.contains("hw:CARD=USB,DEV=0") == true)
    #expect(failure?.message.contains("hw:CARD=Mic,DEV=0") == true)
  }

  @Test func `a name that matches no device is unchanged`() throws {
    #expect(try resolve("Focusrite") == "Focusrite")
  }
}
