import FakePCM
import Testing

@testable import AudioDevices

/// A card of the test, which is plugged in for as long as this value exists.
private final class FakeCard {
  let card: UnsafeMutablePointer<fake_card>

  init(_ number: Int32, id: String, name: String) {
    card = fake_card_plug(number)
    Self.write(id, to: &card.pointee.id)
    Self.write(name, to: &card.pointee.name)
  }

  deinit { fake_card_unplug(card) }

  var number: Int { Int(card.pointee.number) }

  /// The card in the list of all devices.
  var description: CardDescription? {
    DeviceList.current().cards.first { $0.number == number }
  }

  func add(
    _ device: WritableKeyPath<fake_card, fake_device>, _ title: String, captures: Bool,
    plays: Bool, subdevices: Int32 = 1
  ) {
    Self.write(title, to: &card.pointee[keyPath: device].title)
    card.pointee[keyPath: device].can_capture = captures
    card.pointee[keyPath: device].can_play = plays
    card.pointee[keyPath: device].subdevices = subdevices
  }

  private static func write<Field>(_ text: String, to field: inout Field) {
    withUnsafeMutableBytes(of: &field) { $0.copyBytes(from: text.utf8) }
  }
}

@Suite struct DeviceListTests {
  @Test func `PCMs of the configuration are listed on a machine without a sound card`() {
    let named = DeviceList.current().named
    let null = named.first { $0.name == "null" }
    #expect(null?.canCapture == true)
    #expect(null?.canPlay == true)
    #expect(null?.comment.isEmpty == false)
  }

  @Test func `every listed device has the name that opens it, and a direction`() throws {
    let fake = FakeCard(30, id: "FakeUSB", name: "Fake USB Interface")
    fake.add(\.devices.0, "Line", captures: true, plays: true)
    // Numbers may be missing between those of the devices.
    fake.add(\.devices.2, "Digital", captures: false, plays: true, subdevices: 4)
    fake.add(\.devices.3, "Talkback", captures: true, plays: false, subdevices: 2)
    let card = try #require(fake.description)
    #expect(card.id == "FakeUSB" && card.name == "Fake USB Interface" && card.failure == nil)
    #expect(
      card.devices.map(\.name) == [
        "hw:CARD=FakeUSB,DEV=0", "hw:CARD=FakeUSB,DEV=2", "hw:CARD=FakeUSB,DEV=3",
      ])
    #expect(card.devices.map(\.title) == ["Line", "Digital", "Talkback"])
    #expect(card.devices.map(\.capture?.subdeviceCount) == [1, nil, 2])
    #expect(card.devices.map(\.playback?.subdeviceCount) == [1, 4, nil])
    #expect(fake.card.pointee.opened == 1 && fake.card.pointee.closed == 1)
  }

  @Test func `the devices of a card can be chosen without opening them`() throws {
    let fake = FakeCard(30, id: "FakeUSB", name: "Fake USB Interface")
    fake.add(\.devices.1, "Digital", captures: false, plays: true)
    let candidates = try CardControl(card: 30).candidates
    #expect(
      candidates == [
        DeviceCandidate(
          name: "hw:CARD=FakeUSB,DEV=1", title: "Digital", card: "FakeUSB",
          cardTitle: "Fake USB Interface", canCapture: false, canPlay: true)
      ])
    let listed = DeviceList.current().devices.filter { $0.card == "FakeUSB" }
    #expect(listed == candidates)
  }

  @Test func `a device that cannot be opened is listed with the reason`() throws {
    let fake = FakeCard(30, id: "FakeUSB", name: "Fake USB Interface")
    fake.add(\.devices.0, "Line", captures: true, plays: false)
    let card = try #require(fake.description)
    guard case .failed(let failure)? = card.devices.first?.capture?.state else {
      Issue.record("No PCM of a fake card can be opened.")
      return
    }
    #expect(failure.kind == .notFound)
  }

  @Test(arguments: [(Int32(-13), DeviceFailure.Kind.permissionDenied), (-19, .notFound)])
  func `a card that does not report its devices is listed with the reason`(
    code: Int32, kind: DeviceFailure.Kind
  ) throws {
    let fake = FakeCard(30, id: "FakeUSB", name: "Fake USB Interface")
    fake.add(\.devices.0, "Line", captures: true, plays: true)
    fake.card.pointee.open_code = code
    let card = try #require(fake.description)
    #expect(card.id == "30" && card.name == "30" && card.devices.isEmpty)
    #expect(card.failure?.kind == kind)
    #expect(card.failure?.message.contains("ard 30") == true)
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
