import FakePCM
import LinuxSystem
import MachineFiles
import Testing

@testable import AudioDevices

@Suite struct MixerTests {
  private typealias FakeMixer = UnsafeMutablePointer<fake_mixer>

  private static func mixer(_ controls: [fake_control]) -> FakeMixer {
    guard let mixer = fake_mixer_make() else { preconditionFailure("no memory for a fake mixer") }
    mixer.pointee.count = Int32(controls.count)
    withUnsafeMutableBytes(of: &mixer.pointee.controls) { memory in
      let places = memory.bindMemory(to: fake_control.self)
      for (index, control) in controls.enumerated() { places[index] = control }
    }
    return mixer
  }

  /// Returns a control from -60 to 0 dB in steps of 1 dB, with both channels at `volume` of 60.
  private static func control(
    _ name: String, capture: Bool = true, volume: Int = 30, isOn: Bool? = nil
  ) -> fake_control {
    var control = fake_control()
    withUnsafeMutableBytes(of: &control.name) { $0.copyBytes(from: name.utf8) }
    control.is_capture = capture
    control.has_volume = true
    control.has_switch = isOn != nil
    control.switches = isOn == true ? (1, 1) : (0, 0)
    control.has_decibels = true
    control.highest = 60
    control.step = 100
    control.volumes = (volume, volume)
    return control
  }

  private static func name(_ mixer: FakeMixer) -> String {
    withUnsafePointer(to: mixer.pointee.name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 32) { String(cString: $0) }
    }
  }

  @Test func `a mixer lists its controls of each direction`() throws {
    let mixer = Self.mixer([
      Self.control("Master", capture: false, volume: 60),
      Self.control("Mic", volume: 45, isOn: true),
    ])
    let captures = try CardMixers.controls(of: Self.name(mixer), isCapture: true)
    #expect(
      captures == [
        MixerControl(name: "Mic", isCapture: true, volume: 0.75, decibels: -15, isOn: true)
      ])
    let plays = try CardMixers.controls(of: Self.name(mixer), isCapture: false)
    #expect(plays.map(\.name) == ["Master"] && plays[0].isOn == nil)
    #expect(mixer.pointee.opened == 2 && mixer.pointee.closed == 2)
  }

  @Test func `a volume is set on the main control and restored once`()
    throws
  {
    let mixer = Self.mixer([Self.control("Boost", volume: 0), Self.control("Capture", volume: 30)])
    mixer.pointee.controls.1.volumes = (30, 33)
    let change = try VolumeChange(of: Self.name(mixer), isCapture: true, to: .percent(80))
    #expect(mixer.pointee.controls.1.volumes == (48, 48))
    #expect(change.control.decibels == -12 && mixer.pointee.controls.0.volumes == (0, 0))
    change.restore()
    #expect(mixer.pointee.controls.1.volumes == (30, 33))
    mixer.pointee.controls.1.volumes = (5, 5)
    change.restore()
    #expect(mixer.pointee.controls.1.volumes == (5, 5), "it is restored once")
    #expect(mixer.pointee.opened == mixer.pointee.closed)
  }

  @Test func `restoreAll() restores all changed volumes`() throws {
    let mixer = Self.mixer([
      Self.control("Capture", volume: 30), Self.control("PCM", capture: false, volume: 20),
    ])
    _ = try VolumeChange(of: Self.name(mixer), isCapture: true, to: .decibels(-6))
    _ = try VolumeChange(of: Self.name(mixer), isCapture: false, to: .decibels(-6))
    #expect(mixer.pointee.controls.0.volumes == (54, 54))
    #expect(mixer.pointee.controls.1.volumes == (54, 54))
    VolumeChange.restoreAll()
    #expect(mixer.pointee.controls.0.volumes == (30, 30))
    #expect(mixer.pointee.controls.1.volumes == (20, 20))
  }

  @Test func `a volume that cannot be set is refused, and nothing is changed`() throws {
    let mixer = Self.mixer([Self.control("Mic", volume: 30)])
    let name = Self.name(mixer)
    #expect(kind(name, .decibels(3)) == .invalidRequest)
    #expect(kind(name, .decibels(-61)) == .invalidRequest)
    mixer.pointee.controls.0.has_decibels = false
    #expect(kind(name, .decibels(-6)) == .invalidRequest)
    mixer.pointee.controls.0.is_fixed = true
    #expect(kind(name, .percent(50)) == .refused)
    for share in [-1, 100.1, 1e300, .infinity, .nan] {
      #expect(kind(name, .percent(share)) == .invalidRequest)
    }
    mixer.pointee.controls.0.highest = 0
    #expect(kind(name, .percent(50)) == .notFound)
    mixer.pointee.attach_code = -13
    #expect(kind(name, .percent(50)) == .permissionDenied)
    #expect(kind("fake-nothing", .percent(50)) == .notFound)
    #expect(mixer.pointee.controls.0.volumes == (30, 30))
    #expect(mixer.pointee.opened == mixer.pointee.closed)
  }

  private func kind(_ device: String, _ volume: MixerVolume) -> DeviceFailure.Kind? {
    do throws(DeviceFailure) {
      _ = try VolumeChange(of: device, isCapture: true, to: volume)
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func `the control that silences an input is found`() {
    func control(_ name: String, _ volume: Double?, _ isOn: Bool?) -> MixerControl {
      MixerControl(name: name, isCapture: true, volume: volume, decibels: nil, isOn: isOn)
    }
    func silencing(_ controls: MixerControl...) -> String? { CardMixers.silencing(controls)?.name }
    #expect(silencing(control("Capture", 0.5, false), control("Boost", 0.1, nil)) == "Capture")
    #expect(silencing(control("Line", 0.5, false), control("Mic", 0.5, false)) == "Mic")
    #expect(silencing(control("Line", 0.5, true), control("Mic", 0.5, false)) == nil)
    #expect(silencing(control("Mic", 0, nil)) == "Mic")
    #expect(silencing(control("Mic", 0, true), control("Line", 0.5, false)) == "Mic")
    #expect(silencing(control("Mic", 0.5, true)) == nil)
    #expect(silencing() == nil)
  }

  @Test func `a name that refers to no card is the name of its mixer`() {
    #expect(CardMixers.mixerName(of: "default") == "default")
    #expect(CardMixers.mixerName(of: "pulse:server") == "pulse")
  }

  @Test(arguments: [
    ("hw:1,0", "hw:CARD=1"), ("plughw:CARD=NoSuchCard,DEV=0", "hw:CARD=NoSuchCard"),
    ("sysdefault:NoSuchCard", "hw:CARD=NoSuchCard"),
  ])
  func `the mixer of a card that is not listed is never that of another card`(
    device: String, mixer: String
  ) {
    let machine = FakeMachine()
    #expect(CardMixers.mixerName(of: device, among: CardFiles(machine.files())) == mixer)
  }

  @Test func `a volume is restored on the card on which it was set`() throws {
    let mixer = Self.mixer([Self.control("Mic", volume: 30)])
    Self.rename(mixer, "hw:CARD=Interface")
    let machine = FakeMachine()
    machine.write("Interface\n", to: "/proc/asound/card1/id")
    machine.write("1235:8210\n", to: "/proc/asound/card1/usbid")
    let cards = CardFiles(machine.files())
    let change = try VolumeChange(
      of: "hw:1,0", isCapture: true, to: .percent(80), among: cards)
    #expect(mixer.pointee.controls.0.volumes == (48, 48))
    change.restore()
    #expect(mixer.pointee.controls.0.volumes == (30, 30))
  }

  @Test(arguments: ["", "046d:0825"])
  func `the mixer of another card under the same name is not changed`(product: String) throws {
    let mixer = Self.mixer([Self.control("Mic", volume: 30)])
    let id = "Interface\(product.count)"
    Self.rename(mixer, "hw:CARD=\(id)")
    let machine = FakeMachine()
    machine.write(id + "\n", to: "/proc/asound/card1/id")
    machine.write("1235:8210\n", to: "/proc/asound/card1/usbid")
    let change = try VolumeChange(
      of: "hw:1,0", isCapture: true, to: .percent(80), among: CardFiles(machine.files()))
    machine.write(product + "\n", to: "/proc/asound/card1/usbid")
    change.restore()
    #expect(mixer.pointee.controls.0.volumes == (48, 48))
  }

  private static func rename(_ mixer: FakeMixer, _ name: String) {
    withUnsafeMutableBytes(of: &mixer.pointee.name) { bytes in
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
      bytes.copyBytes(from: name.utf8)
    }
  }
}
