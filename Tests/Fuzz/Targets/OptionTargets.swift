import AudioBasics
import AudioFiles
import AudioSessions
import ConfigurationFiles
import Glibc
import RealtimeAudio
import SimulatedDevices

@testable import AudioDevices
@testable import duplex

extension FuzzTarget {
  /// One argument of each kind of option: sizes, times, levels, rates, formats, devices.
  static let options = FuzzTarget("options", maximumLength: 256) { input in
    let word = input.text
    let rate = input.choose(from: [48000, 8000, 768_000])
    count(TimeOption(argument: word), rate)
    if let split = SplitOption(argument: word), case .time(let time) = split { count(time, rate) }
    if let region = RegionOption(argument: word) {
      count(region.start, rate)
      count(region.end, rate)
    }
    let address = SourceAddress(word)
    count(address.start, rate)
    count(address.end, rate)
    _ = (KeepRule(argument: word), ByteSize(word), RateOption(argument: word))
    _ = (
      Gain(argument: word)?.description, LevelOption(argument: word)?.decibels,
      LoopOption(argument: word)?.count
    )
    _ = (SpeedOption(argument: word), RawOption(argument: word), MixOption(argument: word))
    _ = (PerSource<Gain>(argument: word)?[3], PerSource<Pan>(argument: word)?[3])
    _ = (FormatOption(argument: word), ThreadPriority(argument: word))
    _ = (FileFormat(name: word), FileFormat(pathExtensionOf: word), FileSampleFormat(name: word))
    if SimulatedDeviceSpecification.isSimulated(word) {
      _ = try? SimulatedDeviceSpecification(parsing: word)
    }
  }

  private static func count(_ time: TimeOption?, _ rate: Int) {
    guard let frames = time?.frameCount(at: rate) else { return }
    guard frames >= 0 else { finding("a time of \(frames) frames") }
  }

  /// The settings saved by `tune` and `latency`.
  static let settings = FuzzTarget("settings", maximumLength: 2048) { input in
    ScratchFile.settings.with(input.bytes) { path in
      _ = try? SavedRoundTrip(file: path)
    }
  }

  /// The file of defaults, up to the arguments passed to the option parser.
  static let configuration = FuzzTarget("configuration", maximumLength: 4096) { input in
    let lines = input.bytes.count { $0 == UInt8(ascii: "\n") } + 1
    do throws(ConfigurationFailure) {
      let file = try ConfigurationFile(parsing: input.text)
      guard file.entries.allSatisfy({ (1...lines).contains($0.line) }) else {
        finding("a setting in a line that does not exist")
      }
    } catch {
      guard (1...lines + 1).contains(error.line), !error.message.isEmpty else {
        finding("a failure in line \(error.line) of \(lines)")
      }
    }
    ScratchFile.configuration.with(input.bytes) { _ in
      setenv("XDG_CONFIG_HOME", ScratchFile.folder, 1)
      let examples: [[String]] = [
        ["record", "note.wav"], ["play", "-D", "hw:1,0", "a.wav"], ["devices"], ["latency"],
      ]
      let written = input.choose(from: examples)
      let commands = DuplexCommand.commands
      guard let words = try? CommandWords(written, of: commands) else { return }
      let command = commands[words.command] as? any ToolCommand.Type
      guard
        var defaults = try? Defaults(
          for: words, completeWords: command?.completeWords ?? [],
          alsoSet: FormatOption.optionsSet)
      else { return }
      try? defaults.adapt(to: written) { words in
        do {
          _ = try DuplexCommand.parseAsRoot(words)
          return nil
        } catch {
          return DuplexCommand.message(for: error)
        }
      }
    }
  }
}
