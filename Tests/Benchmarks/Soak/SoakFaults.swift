import AudioBasics

/// The clocks of the devices of a soak test.
enum SoakClocks: String {
  /// One clock for both directions.
  case one
  /// One clock for each direction, with batches and jitter. The input is the master and is recorded
  /// without resampling.
  case two
}

/// The faults of a soak test: their kinds, times and number, determined by a seed.
struct SoakFaults {
  /// The number of capture overruns.
  private(set) var captureXruns = 0
  /// The number of playback underruns.
  private(set) var playbackXruns = 0
  /// The number of times that the device is unplugged and plugged in again.
  private(set) var absences = 0
  /// The number of times that a clock changes its rate.
  private(set) var clockSteps = 0
  /// The settings of the simulated device.
  private var settings: [String]

  /// Creates a fault every 5 to 45 seconds, the last one 10 seconds before the end. No fault occurs
  /// during the recovery from another.
  init(seconds: Double, _ clocks: SoakClocks, _ random: inout SplitMix64) {
    settings = ["xrun-frames=\(Int.random(in: 16...4800, using: &random))"]
    if clocks == .two { settings += ["drift=40", "batch=48", "jitter=1"] }
    var time = 5.0
    while true {
      time += Double.random(in: 5...45, using: &random)
      guard time < seconds - 15 else { return }
      switch Int.random(in: 0..<(clocks == .one ? 3 : 6), using: &random) {
      case 0, 1:
        captureXruns += 1
        settings.append("xrun-at=\(Self.digits(time))")
      case 2:
        absences += 1
        settings.append("unplug-at=\(Self.digits(time))")
        if clocks == .two {
          let sides = ["capture", "playback", "both"]
          settings.append("unplug-side=\(sides.randomElement(using: &random) ?? "both")")
        }
        time += Double.random(in: 0.2...4, using: &random)
        settings.append("replug-at=\(Self.digits(time))")
      case 3:
        playbackXruns += 1
        settings.append("dry-at=\(Self.digits(time))")
      default:
        clockSteps += 1
        let ppm = Int.random(in: -500...500, using: &random)
        settings.append("drift-at=\(Self.digits(time)):\(ppm)")
      }
    }
  }

  /// Returns the name of the simulated device with these faults, whose microphone plays the file
  /// `microphone`.
  func deviceName(microphone: String) -> String {
    "sim:clock=free,gain=-200,mic=\(microphone)," + settings.joined(separator: ",")
  }

  /// A one-line description of the faults.
  var sentence: String {
    "\(captureXruns) overruns, \(playbackXruns) underruns, \(absences) absences, \(clockSteps) clock steps"
  }

  private static func digits(_ seconds: Double) -> String {
    let milliseconds = Int(rounding: seconds * 1000)
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    return "\(milliseconds / 1000).\(fraction)"
  }
}
