import Testing

@testable import AudioDevices

@Suite struct DeviceListTests {
  @Test func `PCMs of the configuration are listed on a machine without a sound card`() {
    let named = DeviceList.current().named
    let null = named.first { $0.name == "null" }
    #expect(null?.canCapture == true)
    #expect(null?.canPlay == true)
    #expect(null?.comment.isEmpty == false)
  }

  @Test func `every listed device has the name that opens it, and a direction`() {
    for card in DeviceList.current().cards {
      for device in card.devices {
        #expect(device.name.hasPrefix("hw:CARD=\(card.id),DEV="))
        #expect(device.capture != nil || device.playback != nil)
      }
    }
  }

  @Test func `a PCM lists all settings that it supports`() throws {
    let abilities = try PCM(opening: "null", .playback).abilities()
    #expect(abilities.formats.contains("S16_LE"))
    #expect(abilities.formats.contains("FLOAT_LE"))
    #expect(abilities.sampleRates.contains(48000))
    #expect(abilities.channelCounts.contains(2))
    #expect(abilities.periodFrames.contains(256))
    #expect(abilities.bufferFrames.contains(512))
  }
}
