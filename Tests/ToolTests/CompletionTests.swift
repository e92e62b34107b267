import AudioDevices
import Testing

@testable import duplex

@Suite struct CompletionTests {
  private static let card = DeviceCandidate(
    name: "hw:CARD=USB,DEV=0", title: "USB Audio", card: "USB", cardTitle: "Mike", canPlay: false)
  private static let output = DeviceCandidate(name: "speakers", title: "", canCapture: false)
  private static let hostile = DeviceCandidate(name: "a$(reboot)", title: "b")

  private func completion(_ words: String) -> Completion {
    Completion(
      of: words.split(separator: " ", omittingEmptySubsequences: false).map(String.init),
      DuplexCommand.commands, devices: { [Self.card, Self.output, Self.hostile] })
  }

  private func words(_ line: String) -> [String] { completion(line).candidates.map(\.word) }

  @Test func `the first word is completed to commands`() {
    #expect(words("") == DuplexCommand.commands.names + ["help"])
    #expect(words("re") == ["record", "repair"])
    #expect(words("help mon") == ["monitor"])
    #expect(words("--he") == ["--help", "--help-all"])
    #expect(words("nonsense ") == [])
  }

  @Test func `all options of a command are offered except those already given`() {
    for name in DuplexCommand.commands.names {
      let all = DuplexCommand.commands.arguments(of: name)
      let names = all.longNames.filter { $0 != "version" }.map { "--" + $0 } + ["--help-all"]
      #expect(words("\(name) --") == names, "\(name)")
      for letter in all.flatMap(\.shortNames) {
        #expect(words("\(name) -").contains("-" + letter), "\(name) -\(letter)")
      }
    }
    #expect(words("record --overwrite --ov") == [])
    #expect(words("monitor --mix a.wav --mi") == ["--mix"])
    #expect(words("rec --dura") == ["--duration"])
  }

  @Test(arguments: DuplexCommand.commands.names)
  func `each option with a value offers values or files, or accepts free text`(name: String) {
    let free: Set = [
      "time", "time,time", "db", "db,...", "p,...", "x", "beats", "bpm", "percent", "n", "text",
      "hz",
    ]
    for option in DuplexCommand.commands.arguments(of: name) where option.takesValue {
      let found = completion("\(name) --\(option.name) ")
      #expect(
        !found.candidates.isEmpty || found.takesFiles || free.contains(option.valueName),
        "\(name) --\(option.name) <\(option.valueName)>")
    }
  }

  @Test func `devices are completed from the existing ones of the option's direction`() {
    #expect(words("record -D ") == ["default", "hw:CARD=USB,DEV=0", "speakers", "sim"])
    #expect(words("record --capture-device ") == ["default", "hw:CARD=USB,DEV=0", "sim"])
    #expect(words("monitor -P ") == ["default", "speakers", "sim"])
    #expect(words("play --also-play sp") == ["speakers"])
    #expect(words("play --device=hw") == ["--device=hw:CARD=USB,DEV=0"])
    #expect(completion("record -C hw").candidates.first?.meaning == "Mike, USB Audio")
    #expect(words("record -D si") == ["sim", "sim:"])
    #expect(words("record -D sim:rate=48000,cl") == ["sim:rate=48000,clock="])
    #expect(words("record -D sim:clock=") == ["sim:clock=real", "sim:clock=free"])
    #expect(completion("record -D sim:mic=").takesFiles)
  }

  @Test func `values are offered after their options, and files where files are expected`() {
    #expect(words("record --file-format fl") == ["flac"])
    #expect(words("record --file-format=fl") == ["--file-format=flac"])
    #expect(words("monitor --record-what ") == ["mic", "mix"])
    #expect(words("overdub --latency a") == ["auto"])
    #expect(completion("overdub --latency a").takesFiles)
    for line in ["record ", "play one.wav ", "monitor --record ", "play -- -x", "monitor --mix=a"] {
      #expect(completion(line).takesFiles, "\(line)")
    }
    #expect(!completion("monitor ").takesFiles)
    #expect(words("monitor ").contains("--mix"))
    // The word after an option that is itself a value.
    #expect(words("monitor --title --mix ").contains("--gain"))
  }
}
