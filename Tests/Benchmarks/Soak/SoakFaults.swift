import AudioBasics

/// By which clocks a soak's devices go.
enum SoakClocks: String {
  /// Both directions by one.
  case one
  /// Each direction by its own, in batches and late, the input as master: it is recorded as it is.
  case two
}

/// What goes wrong in a soak, when, and how often: drawn from a seed.
struct SoakFaults {
  /// Times that the input overruns.
  private(set) var captureXruns = 0
  /// Times that the output runs dry.
  private(set) var playbackXruns = 0
  /// Times that the device is unplugged and plugged in again.
  private(set) var absences = 0
  /// Times that a clock changes its rate.
  private(set) var clockSteps = 0
  /// The device's settings.
  private var settings: [String]

  /// A fault each 5 to 45 seconds, the last one 10 seconds before the end: none comes while another
  /// is mended.
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

  /// The simulated device to which all this happens and in front of which the file `microphone` is
  /// played.
  func deviceName(microphone: String) -> String {
    "sim:clock=free,gain=-200,mic=\(microphone)," + settings.joined(separator: ",")
  }

  /// What happens, in a line.
  var sentence: String {
    "\(captureXruns) overruns, \(playbackXruns) underruns, \(absences) absences, \(clockSteps) clock steps"
  }

  private static func digits(_ seconds: Double) -> String {
    let milliseconds = Int(rounding: seconds * 1000)
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    return "\(milliseconds / 1000).\(fraction)"
  }
}
