import Testing

@testable import duplex

@Suite struct OptionNameTests {
  @Test(arguments: ["record", "monitor", "play", "overdub", "latency", "tune"])
  func `the table of letters is that of the declared options`(command: String) {
    let declared = DuplexCommand.commands.arguments(of: command).filter(\.takesValue)
      .flatMap { option in option.shortNames.map { (Character($0), option.longNames[0]) } }
    #expect(Dictionary(uniqueKeysWithValues: declared) == AudioOptions.longNames)
  }
}
