import ArgumentParser
import AudioDevices

/// `duplex devices`.
struct DevicesCommand: ParsableCommand, TalkingCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices and what each can do.")

  @Flag(help: "One JSON document instead of a table.")
  var json = false

  var outputMode: OutputMode { OutputMode(json: json) }

  func run() throws {
    let list = DeviceList.current()
    if json {
      Terminal.tell(.devices(list))
    } else {
      for line in DeviceTable(list).lines { Terminal.printLine("\(line)") }
    }
  }
}
