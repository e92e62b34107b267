import ArgumentParser
import AudioDevices

/// The command `duplex devices`.
struct DevicesCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "List the devices and what each can do.")

  @Flag(help: "Print JSON events, one per line, and nothing else on standard output.")
  var json = false

  @Flag(
    name: [.customShort("v"), .long],
    help: "Show the channels, rates, formats, buffers and mixer of each device.")
  var verbose = false

  @Flag(help: "Report devices that are plugged in or unplugged, until Ctrl-C or q.")
  var watch = false

  var outputMode: OutputMode { OutputMode(json: json) }

  func perform() throws -> ExitStatus {
    if let failure = ALSAConfiguration.failure { throw failure }
    if watch {
      DeviceWatch(json: json).run()
      return .done
    }
    let list = DeviceList.current()
    if json {
      Terminal.emit(.devices(list))
    } else {
      Terminal.printLines(verbose ? DeviceTable(list).lines : DeviceOverview(list).lines)
    }
    return .done
  }
}
