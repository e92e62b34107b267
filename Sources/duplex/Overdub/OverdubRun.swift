import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import LatencyMeasurement
import RealtimeAudio

/// An overdub from its first check to its summary: finds the round trip, records each pass, puts
/// regions into their takes, mixes.
final class OverdubRun {
  /// Where the round trip came from.
  enum Source: String {
    case given, file, saved, measured
  }

  let command: OverdubCommand
  let takes: OverdubTakes
  /// The round trip in frames, without what a device's steps add unless it was given, and where it came
  /// from, once known.
  var roundTrip: (frames: Double, source: Source)?
  var totals = SessionTotals()
  var passes: [OverdubPass] = []
  /// The device as it was granted last.
  var configuration: DuplexConfiguration?
  private let saved: SavedRoundTrip?
  private var audio: AudioOptions

  init(_ command: OverdubCommand) throws {
    self.command = command
    audio = command.audio
    let backing = try Decoding.decoder(forPath: command.backing)
    if audio.rate == nil { audio.rate = backing.sampleRate }
    // Before anything sounds; the device may still choose another rate.
    let pace = Double(audio.rate ?? backing.sampleRate) / Double(backing.sampleRate)
    let frames = Int(rounding: Double(backing.frameCount ?? 0) * pace)
    _ = try OverdubPlan.region(command, of: frames, rate: audio.rate ?? backing.sampleRate)
    takes = try OverdubTakes(command)
    switch command.latency {
    case .automatic: saved = nil
    case .time: saved = nil
    case .file(let path): saved = try SavedRoundTrip(file: path)
    }
  }

  /// The options, with the backing's rate where none was asked for.
  var options: AudioOptions { audio }

  /// Looks the round trip up for an open device, where it was given in a file or kept.
  func findRoundTrip(_ configuration: DuplexConfiguration) throws {
    self.configuration = configuration
    guard roundTrip == nil else { return }
    if case .time(let time) = command.latency {
      roundTrip = (time.frames(at: configuration.sampleRate), .given)
    } else if let saved {
      roundTrip = (try saved.frames(for: configuration), .file)
    } else if let kept = try SavedRoundTrip.find(configuration) {
      roundTrip = (try kept.frames(for: configuration), .saved)
    }
  }

  func run() throws -> ExitStatus {
    var status = ExitStatus.done
    do throws(ToolFailure) {
      status = try inTermsOfTheTool { try recordAll() }
    } catch {
      // Once sound has flowed there is something to sum up.
      guard configuration != nil else { throw error }
      error.report()
      status = error.status
    }
    if status == .done, isNothingKept, totals.isInterrupted {
      let failure = ToolFailure.stopped(before: "recorded; no take was kept or changed")
      failure.report()
      status = failure.status
    }
    conclude()
    return status
  }

  /// Whether no take has a frame.
  private var isNothingKept: Bool { passes.allSatisfy { $0.report.frames == 0 } }

  private func recordAll() throws -> ExitStatus {
    var status = ExitStatus.done
    while status == .done, passes.count < command.takes, !totals.isInterrupted {
      let wasKnown = roundTrip != nil
      let count = passes.count
      let use = OverdubUse(run: self, path: takes.paths[count])
      status = try DeviceChoice(
        audio, captures: true, plays: true, alsoPlay: command.alsoPlay.devices, stoppedStatus: .loss
      ).use(use)
      if passes.count > count, command.audio.json {
        Terminal.emit(
          .progress(
            Double(passes.count) / Double(command.takes), "take",
            [("path", .string(takes.paths[count]))]))
      }
      // A stream that only found the round trip is followed by one that records.
      guard passes.count > count || (!wasKnown && roundTrip != nil) else { break }
    }
    if status == .done, let last = passes.last, let mix = command.mix {
      try OverdubMix(command, last).write(to: mix)
    }
    return status
  }

  /// Tells what came of all passes.
  private func conclude() {
    guard let configuration else { return }
    if let last = passes.last, let roundTrip {
      return last.conclude(self, totals.report, roundTrip)
    }
    guard command.audio.json else { return }
    let fields = JSON.summary(of: "overdub", totals.report, configuration)
    Terminal.emit(Event.summary(fields + JSON.written([]) + [("alignmentFrames", .null)]))
  }
}

/// One stream of an overdub: measures where the round trip is not known, else records a pass.
struct OverdubUse: DeviceUse {
  let run: OverdubRun
  let path: String

  func run(
    on device: consuming DuplexDevice, clock: SessionClock, background: [any BackgroundWork]
  ) throws -> ExitStatus {
    try run.findRoundTrip(device.configuration)
    guard let roundTrip = run.roundTrip else {
      return try measure(on: device, clock, background)
    }
    return try OverdubPass(run, path, roundTrip: roundTrip).record(
      on: device, clock, background: background)
  }

  private func measure(
    on device: consuming DuplexDevice, _ clock: SessionClock, _ background: [any BackgroundWork]
  ) throws -> ExitStatus {
    var plan = ProbePlan(device.configuration)
    plan.repeats = 3
    // The duration is that of the take.
    var options = run.options
    options.duration = nil
    Notice.info(
      "measuringRoundTrip", "The round trip is not known: measuring it with a soft noise ..."
    ).report()
    let (found, outcome) = try measureRoundTrips(
      on: device, plan, options, clock, background: background
    ) { done in
      if run.options.json { Terminal.emit(.progress(done, "measurement")) }
    }
    run.totals.note(outcome.report)
    if run.totals.isInterrupted { return .done }
    if let failure = outcome.report.stopReason.failure { throw failure }
    guard let pair = found.main, let answer = PairAnswer(pair, plan.sampleRate),
      answer.isTrustworthy
    else {
      throw ToolFailure(
        .loss, code: "noSignal",
        "The round trip cannot be measured: nothing clear came back from the output.",
        hint: "Connect an output to an input and run `duplex latency --save` once with the same "
          + "device, rate and period, or say --latency with a time, as 612f or 12.75ms.")
    }
    run.roundTrip = (
      answer.frames.median - Double(outcome.report.addedLatencyFrames), .measured
    )
    return .done
  }
}

/// The files of an overdub: one take a pass, checked before anything sounds.
struct OverdubTakes {
  let paths: [String]
  private let command: OverdubCommand
  private let fileFormat: FileFormat
  private let inputs: Set<FileIdentity>

  init(_ command: OverdubCommand) throws {
    self.command = command
    let target = try RecordingTarget(
      path: command.take, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    fileFormat = target.fileFormat
    guard fileFormat != .mp3 else {
      throw ToolFailure(
        .usage, code: "usage", "An MP3 file begins with silence of the encoder's own.",
        hint: "Record the take as WAV or FLAC, so that it lines up.")
    }
    paths =
      command.takes == 1
      ? [command.take] : (1...command.takes).map { FileName.insert("-\($0)", into: command.take) }
    var inputs = InputFiles(command.audio)
    inputs.add(command.backing)
    if case .file(let path) = command.latency { inputs.add(path) }
    self.inputs = inputs.identities
    for path in paths + [command.mix].compactMap({ $0 }) {
      guard FileIdentity(of: path).map({ !inputs.identities.contains($0) }) ?? true else {
        throw ToolFailure(
          .usage, code: "usage",
          "\(path) is what is played or heard: the backing, or another input.",
          hint: "Choose another name for the take.")
      }
      // A region goes into the take that is there: that is what it is for.
      let mayExist = command.overwrite || (command.isPunchIn && path != command.mix)
      guard mayExist || !SoundFileReader.exists(path) else {
        throw ToolFailure(
          .cannotCreate, code: "outputRefused", "\(path) exists already.",
          hint: "Choose another name, or replace it with --overwrite.")
      }
    }
    if let mix = command.mix {
      _ = try RecordingTarget(
        path: mix, fileFormat: nil, sampleFormat: nil, overwrite: command.overwrite)
    }
  }

  /// The take that the region goes into; nil where there is none yet.
  func existing(_ path: String) throws -> FileSplice? {
    guard command.isPunchIn, SoundFileReader.exists(path) else { return nil }
    return try FileSplice(path: path)
  }

  /// Where the pass is recorded to: the take itself, or a file of its own that is put into the take
  /// afterwards.
  func target(_ path: String, into splice: FileSplice?) throws -> RecordingTarget {
    // A region is a recording of its own until it is in its take: found, should the power fail.
    let random = String(UInt32.random(in: 0 ... .max), radix: 36)
    var target = try RecordingTarget(
      path: command.isPunchIn ? FileName.insert("-region-\(random)", into: path) : path,
      fileFormat: command.isPunchIn ? splice?.fileFormat ?? fileFormat : nil,
      sampleFormat: splice?.sampleFormat, overwrite: command.overwrite && !command.isPunchIn)
    target.inputs = inputs
    return target
  }
}
