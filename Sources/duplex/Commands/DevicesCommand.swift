import ArgumentParser
import AudioDevices

/// `duplex devices`.
struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices and what each can do.")

  @Flag(help: "One JSON document instead of a table.")
  var json = false

  func run() throws {
    let list = DeviceList.current()
    if json {
      Terminal.printLine(JSON.devices(list).text)
    } else {
      for line in DeviceTable(list).lines { Terminal.printLine(line) }
    }
  }
}
