import LinuxSystem
import MachineFiles
import Testing

struct CardFilesTests {
  @Test func `the kernel's list has the cards and their ids`() {
    let machine = FakeMachine()
    machine.write("PCH\n", to: "/proc/asound/card0/id")
    machine.write("USB\n", to: "/proc/asound/card10/id")
    machine.write("1235:8210\n", to: "/proc/asound/card10/usbid")
    // A card that is going away.
    machine.write("", to: "/dev/snd/controlC2")
    machine.write("Gone\n", to: "/sys/class/sound/card2/id")
    let cards = CardFiles(machine.files())
    #expect(cards.numbers == [0, 10] && !cards.isListHidden)
    #expect(cards.number(of: "USB") == 10 && cards.number(of: "10") == 10)
    #expect(cards.number(of: "Gone") == nil && cards.number(of: "2") == nil)
    #expect(cards.usbProduct(of: 10) == "1235:8210" && cards.usbProduct(of: 0) == nil)
  }

  @Test func `if the kernel's list is hidden, the cards are those with a control device`() {
    let machine = FakeMachine()
    let usb = "/sys/devices/pci0000:00/usb1/1-2"
    machine.write("Other\n", to: "/sys/class/sound/card0/id")
    machine.write("USB\n", to: "/sys/class/sound/card1/id")
    machine.write(
      "-> ../../../devices/pci0000:00/usb1/1-2/1-2:1.0", to: "/sys/class/sound/card1/device")
    machine.write("01\n", to: usb + "/1-2:1.0/bInterfaceClass")
    machine.write("1235\n", to: usb + "/idVendor")
    machine.write("8210\n", to: usb + "/idProduct")
    machine.write("0001\n", to: usb + "/serial")
    machine.write("Scarlett 2i2 USB\n", to: usb + "/product")
    machine.write("", to: "/dev/snd/controlC1")
    let cards = CardFiles(machine.files())
    #expect(cards.numbers == [1] && cards.isListHidden)
    #expect(cards.id(of: 1) == "USB" && cards.number(of: "USB") == 1)
    #expect(cards.number(of: "Other") == nil && cards.id(of: 0) == nil)
    #expect(cards.usbProduct(of: 1) == "1235:8210" && cards.serial(of: 1) == "0001")
    #expect(cards.usbName(of: 1) == "Scarlett 2i2 USB")
  }

  @Test func `a machine without sound has no cards and hides none`() {
    let machine = FakeMachine()
    machine.write("--- no soundcards ---\n", to: "/proc/asound/cards")
    let cards = CardFiles(machine.files())
    #expect(cards.numbers.isEmpty && !cards.isListHidden)
    #expect(CardFiles(FakeMachine().files()).numbers.isEmpty)
  }
}
