import ArgumentParser

/// Devices that play the same as the output.
struct AlsoPlayOption: ParsableArguments {
  @Option(
    name: .customLong("also-play"),
    help: ArgumentHelp(
      "Let another device play the same, by its own clock: speakers and headphones. May be repeated.",
      valueName: "pcm"))
  var devices: [String] = []
}
