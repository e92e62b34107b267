import AudioBasics
import Duplex
import LatencyMeasurement

/// Measures on an open device according to `plan`. The panel shows the text and the fraction that
/// `shown` returns for the completed fraction (0 to 1) and the name of the current measurement.
/// `progress` is called with the completed fraction whenever it has grown.
func measureRoundTrips(
  on open: consuming OpenDevice, _ plan: ProbePlan, _ options: AudioOptions,
  shown: @escaping (Double, String) -> (text: String, fraction: Double) = { ($1, $0) },
  progress: @escaping (Double) -> Void = { _ in }
) throws -> (RoundTrips, SessionOutcome) {
  var session = ProbeSession(plan, periodFrames: open.configuration.periodFrames)
  let listener = session.listener
  guard let callbacks = session.takeCallbacks() else {
    throw ToolFailure(.loss, code: "unknown", "The probe is gone.", hint: "Please report this.")
  }
  var reported = 0.0
  var parts = SessionParts()
  parts.background = [listener]
  let count = plan.repeats * (plan.fromChannel == nil ? plan.playbackChannels : 1)
  var task = LiveTask("Measuring the round trip")
  task.progress = {
    let done = listener.done
    let number = min(count, Int(rounding: done * Double(count)) + 1)
    return shown(done, "measurement \(number) of \(count)")
  }
  parts.task = task
  parts.poll = { _ in
    let done = listener.done
    if done > reported {
      reported = done
      progress(done)
    }
    return listener.isDone ? .end : nil
  }
  let outcome = try SessionOutcome.run(callbacks, on: open, options, parts)
  return (listener.result, outcome)
}
