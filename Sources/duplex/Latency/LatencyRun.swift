import AudioDevices
import AudioSessions
import LatencyMeasurement
import RealtimeAudio

/// Measures on a device, over one open stream or several, and tells what came of it.
final class LatencyRun {
  private let command: LatencyCommand
  private var trips = RoundTrips()
  private var sessions = SessionTotals()
  private var configuration: DuplexConfiguration?

  init(_ command: LatencyCommand) {
    self.command = command
  }

  func run() throws -> ExitStatus {
    for number in 0..<command.reopen {
      let use = MeasureUse(run: self, number: number)
      _ = try DeviceChoice(
        command.audio, captures: true, plays: true, stoppedStatus: .loss
      ).use(use)
      // Where one stream has heard nothing, the next will not either.
      if sessions.isEnded || trips.pairs.isEmpty { break }
    }
    guard let configuration else { return .loss }
    return try LatencyResult(trips, configuration, sessions).conclude(command)
  }

  /// So much of the measurements of one stream is done.
  fileprivate func tellProgress(_ done: Double, of number: Int) {
    guard command.audio.json else { return }
    let all = (Double(number) + done) / Double(command.reopen)
    Terminal.tell(.progress(all, "measurement"))
  }

  /// One stream came to its end.
  fileprivate func add(_ found: RoundTrips, _ outcome: SessionOutcome) {
    trips.add(found)
    sessions.add(outcome.report)
    configuration = outcome.configuration
  }
}

/// Measures on one open stream.
struct MeasureUse: DeviceUse {
  fileprivate let run: LatencyRun
  fileprivate let number: Int

  func run<Device: DuplexDevice & ~Copyable>(
    on device: consuming Device, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    let plan = try run.plan(device.configuration, draws: number == 0)
    let (found, outcome) = try measureRoundTrips(
      on: device, plan, run.options, clock, background: background
    ) { run.tellProgress($0, of: number) }
    run.add(found, outcome)
    return .done
  }
}

extension LatencyRun {
  fileprivate var options: AudioOptions { command.audio }

  fileprivate func plan(_ configuration: DuplexConfiguration, draws: Bool) throws -> ProbePlan {
    var plan = ProbePlan(configuration)
    let hint = "Ask for more with --channels, if the device has them."
    plan.fromChannel = try LatencyCommand.channel(
      command.fromChannel, of: plan.playbackChannels, "The output", hint: hint)
    plan.toChannel = try LatencyCommand.channel(
      command.toChannel, of: plan.captureChannels, "The input", hint: hint)
    plan.repeats = command.repeats
    plan.levelCapDBFS = command.level.decibels
    plan.choice = command.choice
    plan.draws = draws && command.picture.report != nil
    return plan
  }
}

extension ProbePlan {
  /// A plan for a unit as it was granted.
  init(_ configuration: DuplexConfiguration) {
    self.init(
      sampleRate: configuration.sampleRate,
      captureChannels: configuration.capture?.channelCount ?? 1,
      playbackChannels: configuration.playback?.channelCount ?? 1,
      unitLatencyFrames: configuration.latencyFrames)
  }
}

/// Measures by `plan` on an open device; tells `progress` how much of it is done, of 1.
func measureRoundTrips<Device: DuplexDevice & ~Copyable>(
  on device: consuming Device, _ plan: ProbePlan, _ options: AudioOptions, _ clock: SessionClock,
  background: [any BackgroundWork], progress: @escaping (Double) -> Void = { _ in }
) throws -> (RoundTrips, SessionOutcome) {
  var session = ProbeSession(plan, periodFrames: device.configuration.periodFrames)
  let listener = session.listener
  guard let desk = session.takeDesk() else {
    throw ToolFailure(.loss, code: "unknown", "The probe is gone.", hint: "Please report this.")
  }
  var told = 0.0
  let outcome = try SessionOutcome(
    running: device, desk, options, clock, background: background + [listener]
  ) { _ in
    let done = listener.done
    if done > told {
      told = done
      progress(done)
    }
    return listener.isDone ? .end : nil
  }
  return (listener.result, outcome)
}
