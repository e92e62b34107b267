import ArgumentParser
import AudioBasics
import AudioDevices
import Testing

@testable import duplex

/// Tests of the limits of options: both ends of each range are accepted, the values next to them
/// are refused, and the message about a wrong value names the ends.
@Suite struct OptionLimitTests {
  /// An option of one of these commands, the ends of its range and the values beyond them.
  struct Limit: CustomTestStringConvertible, Sendable {
    let command: String
    let option: String
    let (first, last): (String, String)
    let beyond: [String]

    init(
      _ command: String, _ option: String, _ first: String, _ last: String, beyond: [String]
    ) {
      (self.command, self.option, self.beyond) = (command, option, beyond)
      (self.first, self.last) = (first, last)
    }

    var testDescription: String { "\(command) \(option)" }
  }

  private static let limits = [
    Limit("record", "--period-size", "1", "65536", beyond: ["0", "65537"]),
    Limit("record", "--periods", "2", "1024", beyond: ["1", "1025"]),
    Limit("record", "--headroom", "1", "1048576", beyond: ["0", "1048577"]),
    Limit("record", "--channels", "1", "64", beyond: ["0", "65"]),
    Limit("record", "--rate", "8000", "768000", beyond: ["7999", "768001"]),
    Limit("record", "--resampler-quality", "0", "10", beyond: ["-1", "11"]),
    Limit("record", "--capture-channels", "1", "256", beyond: ["0", "257"]),
    Limit("record", "--realtime-priority", "1", "99", beyond: ["0", "100"]),
    Limit("record", "--threshold", "-200", "0", beyond: ["-200.1", "0.1"]),
    Limit("record", "--sync", "0.001", "86400", beyond: ["0.0009", "86400.1"]),
    Limit("record", "--ring", "0.1", "600", beyond: ["0.09", "600.1"]),
    Limit("record", "--duration", "0", "1000000000", beyond: ["-1", "1000000001"]),
    Limit("play", "--speed", "0.25", "4", beyond: ["0.249", "4.001"]),
    Limit("play", "--loop", "1", "1000000000", beyond: ["0", "1000000001"]),
    Limit("play", "--gain", "-200", "60", beyond: ["-200.1", "60.1"]),
    Limit("play", "--prebuffer", "0", "20", beyond: ["20.1"]),
    Limit("monitor", "--limit", "-60", "0", beyond: ["-60.1", "0.1"]),
    Limit("monitor", "--limit-lookahead", "0", "0.1", beyond: ["0.11"]),
    Limit("monitor", "--dim", "0", "60", beyond: ["60.1", "-60.1"]),
    Limit("record", "--capture-volume", "0%", "100%", beyond: ["-0.1%", "100.1%"]),
    Limit("overdub", "--takes", "1", "1000", beyond: ["0", "1001"]),
    Limit("overdub", "--count-in", "0", "1000", beyond: ["-1", "1001"]),
    Limit("overdub", "--tempo", "10", "1000", beyond: ["9.9", "1000.1"]),
    Limit("overdub", "--latency", "0", "10", beyond: ["10.1"]),
    Limit("tune", "--margin", "0", "99", beyond: ["-0.1", "99.1"]),
    Limit("tune", "--seconds", "0.1", "86400", beyond: ["0.09", "86400.1"]),
    Limit("latency", "--repeat", "1", "10000", beyond: ["0", "10001"]),
    Limit("latency", "--reopen", "1", "1000", beyond: ["0", "1001"]),
    Limit("latency", "--level", "-200", "0", beyond: ["-200.1", "0.1"]),
    Limit("latency", "--from-channel", "1", "64", beyond: ["0", "65"]),
  ]

  /// Parses the command line, and the request for the device that is made of it.
  private func parse(_ limit: Limit, _ value: String) throws {
    let files = ["record": ["take.wav"], "overdub": ["song.wav", "take.wav"]][limit.command] ?? []
    let others = limit.option == "--threshold" ? ["--voice-activated"] : []
    // A debug build of the parser checks all commands below the root in each call.
    let type = try #require(DuplexCommand.commands[limit.command])
    let command = try type.parseAsRoot(["\(limit.option)=\(value)"] + others + files)
    guard let audio = (command as? any AudioCommand)?.audio else { return }
    if let recording = (command as? RecordCommand)?.recording {
      try recording.checkTimes(at: 48000)
    }
    try audio.request(captures: true, plays: true).validate()
  }

  /// Returns the text that the user reads about an error.
  private func text(of error: any Error) -> String {
    if let failure = error as? DeviceFailure { return failure.hint }
    let complaint = DuplexCommand.message(for: error)
    return ExpectedValues.sentence(for: complaint) ?? complaint
  }

  @Test(arguments: limits)
  func `both ends of a range are accepted, and the values next to them are refused`(limit: Limit)
    throws
  {
    for value in [limit.first, limit.last] { try parse(limit, value) }
    for value in limit.beyond {
      let error = try #require(throws: (any Error).self) { try parse(limit, value) }
      #expect(text(of: error).contains("\(limit.first) to \(limit.last)"))
    }
  }

  @Test func `a pan has the names of its two ends`() throws {
    for value in ["-1", "1"] { _ = try PlayCommand.parseAsRoot(["--pan=\(value)", "a"]) }
    for value in ["-1.1", "1.1"] {
      let error = try #require(throws: (any Error).self) {
        try PlayCommand.parseAsRoot(["--pan=\(value)", "a"])
      }
      #expect(text(of: error).contains("-1 (left) to 1 (right)"))
    }
  }

  @Test func `the numbers in the messages are the ends of the ranges`() {
    #expect(DuplexRequest.sampleRates.boundsText == "8000 to 768000")
    #expect((0.25...4.0).boundsText == "0.25 to 4")
    #expect((-60.0...0.0).boundsText == "-60 to 0")
    #expect((0.001...86400).boundsText == "0.001 to 86400")
    #expect(["s16", "s24", "s32", "float"].alternatives == "s16, s24, s32 or float")
    #expect(["wav"].alternatives == "wav" && [String]().alternatives == "")
  }
}
