// LatencyMeter DEVICE: measures the round trip from an output through a cable or the air to an
// input.
import Duplex

func main() async throws {
  let arguments = CommandLine.arguments
  let engine = DuplexEngine(device: arguments.count > 1 ? arguments[1] : "default")
  do {
    let measured = try await engine.measureRoundTrip()
    let trip = measured.roundTrip
    print("Round trip \(trip.frames) frames, \(trip.seconds * 1000) ms: \(trip.verdict)")
    for doubt in trip.doubts { print("Doubtful: \(doubt.explanation).") }
    print("95 % within \(trip.interval95.lowerBound) to \(trip.interval95.upperBound) frames")
    print("This program \(measured.unitFrames) frames, the rest \(measured.externalFrames) frames")
  } catch .noRoundTrip(let failure) {
    print(failure.message, failure.hint)
  }
}

try await main()
