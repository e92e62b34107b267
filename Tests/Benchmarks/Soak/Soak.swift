import Duplex
import Foundation

/// A test over hours of virtual time on a simulated device. The microphone is monitored and
/// recorded while a player plays; a seed determines the faults and the requests.
final class Soak {
  private let seconds: Double
  private let clocks: SoakClocks
  private let folder: String
  private var random: SplitMix64
  private let faults: SoakFaults

  private let player = AudioPlayer()
  private var control: RecordingControl?
  private var recording = SoakedRecording()
  private var memory = SoakMemory()
  /// The violations reported by the player and the recording.
  private let complaints = Complaints()
  private var nextSplit = 480_000
  private var nextPause = 960_000
  private var pauseEnd: Int?

  final class Complaints: Sendable {
    private let list = MutexBox<[String]>([])
    func add(_ complaint: String) { list.withLock { $0.append(complaint) } }
    var all: [String] { list.withLock { $0 } }
  }

  /// Creates a test of `hours` hours whose files are in `folder`.
  init(hours: Double, seed: UInt64, _ clocks: SoakClocks, folder: String) {
    seconds = 3600 * hours
    self.clocks = clocks
    self.folder = folder
    random = SplitMix64(seed: seed)
    faults = SoakFaults(seconds: seconds, clocks, &random)
    print(
      "# \(clocks.rawValue) clock\(clocks == .one ? "" : "s"), \(hours) h, seed \(seed): \(faults.sentence)"
    )
  }

  /// Runs the test and prints one line for each check. Returns whether all checks hold.
  func run() throws -> Bool {
    let device = faults.deviceName(microphone: try SoakSounds.writeNumbers(into: folder))
    var selection = DeviceSelection(device: device)
    selection.request.format = .s16LE
    selection.request.channelCount = 2
    if clocks == .two { selection.master = .capture }
    let open = try OpenDevice(opening: selection)
    let configuration = open.configuration
    let frames = Int(clamping: seconds * Double(configuration.sampleRate))
    memory.frames = frames

    var plan = RecordingPlan(
      path: folder + "/take.wav", fileFormat: .wav, sampleFormat: .s16,
      sampleRate: configuration.sampleRate, channelCount: 2)
    plan.isVirtual = true
    // A thousand headers written and synced as often as in real time would only measure the disk.
    plan.syncSeconds = 60
    let writer = try RecordingWriter(plan, ringFrames: 12 * configuration.sampleRate)
    control = writer.control
    for path in try SoakSounds.writeSongs(into: folder) { player.enqueue(path: path) }
    player.isRepeating = true
    player.isShuffling = true
    player.addEventHandler { [complaints] event in
      switch event.kind {
      case .failed(let failure), .refused(let failure):
        complaints.add("the player says: \(failure.message)")
      default: break
      }
    }
    player.play()

    var mixer = Mixer(configuration)
    mixer.monitor = SmoothedGain(Gain(decibels: -12))
    var protection = MonitorProtection(
      sampleRate: configuration.sampleRate, dimRequest: PublishedFlag().makeView())
    protection.limiter = Limiter(
      limit: Gain(decibels: -1).factor, sampleRate: configuration.sampleRate)
    let howls = FeedbackEventWriter(sampleRate: configuration.sampleRate)
    protection.feedbackSuppressor = FeedbackSuppressor(
      sampleRate: configuration.sampleRate, channelCount: 2, fullScale: 1, events: howls)
    mixer.protection = consume protection
    mixer.inputRecorder = writer.takeRecorder()
    mixer.player = try player.attach(to: configuration)
    let runner = SessionRunner(
      device: open.device, callbacks: mixer,
      background: open.background + player.background + [writer],
      meter: nil, frameLimit: frames, reconnects: true)
    let began = HostClock.nanoseconds
    let report = try runner.run(clock: .virtual) { moment, _ in
      follow(moment, writer.events)
      return .proceed
    }
    let elapsed = Double(HostClock.nanoseconds - began) * 1e-9
    readFinished(writer.events)
    recording.endSilence()
    print("# \(Int(clamping: elapsed)) s of real time; \(memory.sentence)")
    return check(report, writer.report, frames)
  }

  // MARK: While it runs

  /// Runs ten times per second.
  private func follow(_ moment: SessionSnapshot, _ events: RecordingEvents) {
    readFinished(events)
    memory.look(at: moment.frames)
    steer()
    if moment.frames >= nextSplit {
      control?.request(.split, at: moment.frames)
      nextSplit += Int.random(in: 480_000...4_800_000, using: &random)
    }
    if let end = pauseEnd, moment.frames >= end {
      control?.request(.resume, at: moment.frames)
      pauseEnd = nil
      nextPause = end + Int.random(in: 480_000...9_600_000, using: &random)
    } else if pauseEnd == nil, moment.frames >= nextPause {
      control?.request(.pause, at: moment.frames)
      pauseEnd = moment.frames + Int.random(in: 4800...240_000, using: &random)
    }
  }

  /// Reads and deletes complete files.
  private func readFinished(_ events: RecordingEvents) {
    for event in events.take() {
      switch event {
      case .finished(let file):
        do throws(FileFailure) {
          try recording.read(file.path)
        } catch {
          complaints.add("\(file.path) cannot be read: \(error.message)")
        }
        try? FileManager.default.removeItem(atPath: file.path)
      case .warning(let failure): complaints.add("the recording warns: \(failure.message)")
      case .overflow(let frame, let frames):
        complaints.add("\(frames) frames found no room at frame \(frame)")
      case .onlySilence, .diskLow: complaints.add("the recording says \(event)")
      default: break
      }
    }
  }

  /// Sends a random request to the player, on average once in two seconds.
  private func steer() {
    guard Int.random(in: 0..<20, using: &random) == 0 else { return }
    switch Int.random(in: 0..<9, using: &random) {
    case 0: try? player.seek(toFraction: Double.random(in: 0...1, using: &random))
    case 1: try? player.seek(bySeconds: Double.random(in: -5...5, using: &random))
    case 2: player.skip(by: Int.random(in: -1...1, using: &random))
    case 3: player.toggleReversed()
    case 4: player.togglePlayPause()
    case 5: player.setSpeed(Double.random(in: 0.5...2, using: &random))
    case 6: player.gain = Gain(factor: .random(in: 0...0.5, using: &random))
    case 7: player.setRegion(1000..<40_000, times: Int.random(in: 1...3, using: &random))
    default: player.setRegion(nil, times: nil)
    }
  }

  // MARK: At the end

  private func check(_ report: SessionReport, _ recorded: RecordingReport, _ frames: Int) -> Bool {
    var checks = SoakChecks()
    let isWhole = if case .duration = report.stopReason { true } else { false }
    checks.holds("the session ends after its duration", isWhole, "\(report.stopReason)")
    checks.same("frames of the timeline", report.frames, frames)
    checks.same("overruns", report.captureXruns, faults.captureXruns)
    checks.same("underruns", report.playbackXruns, faults.playbackXruns)
    let returns = report.events.count {
      $0.kind == .deviceReturned || $0.kind == .captureReturned || $0.kind == .playbackReturned
    }
    checks.holds(
      "reported absences of a device", returns >= faults.absences,
      "\(returns) of \(faults.absences)")
    let lost = report.events.filter(\.isGap)
    checks.same(
      "lost frames in the reported events", lost.reduce(0) { $0 + $1.frames }, report.lostFrames)

    let paused = recorded.pauses.reduce(0) { $0 + $1.frames }
    checks.same("frames recorded and paused", recorded.frames + paused, frames)
    checks.same("frames in the files", recording.frames, recorded.frames)
    let inPauses = lost.reduce(0) { sum, gap in
      sum
        + recorded.pauses.reduce(0) {
          $0
            + (gap.frame..<gap.frame + gap.frames).clamped(
              to: $1.timelineFrame..<$1.timelineFrame + $1.frames
            ).count
        }
    }
    let gaps = report.gaps(in: recorded)
    checks.same(
      "frames in gaps and lost in pauses", gaps.reduce(0) { $0 + $1.frames } + inPauses,
      report.lostFrames)
    checks.holds(
      "the silent parts of the files are the reported gaps", recording.gaps == gaps,
      difference(gaps))
    checks.same("altered frames", recording.alteredFrames, 0)
    // With two clocks, the length of an absence is known only within the jitter of the input, 1 ms.
    let leads = misplaced(recorded.pauses, byMoreThan: clocks == .one ? 0 : 48)
    checks.holds(
      "all other frames equal those of the microphone at their place", leads.isEmpty,
      leads.prefix(5).joined(separator: "; "))
    checks.same("frames that did not fit into the ring buffer", recorded.overflowFrames, 0)
    checks.holds(
      "the recording reports no failure", recorded.failure == nil, recorded.failure?.message ?? "")
    let unexpected = complaints.all
    checks.holds(
      "all reported events were caused by the seed", unexpected.isEmpty,
      unexpected.prefix(5).joined(separator: "; ")
    )
    checks.holds("memory grows by less than 1 MiB", memory.isFlat, memory.sentence)
    return checks.allHold
  }

  /// Returns the first gap that is not silent or silence that is not a gap.
  private func difference(_ gaps: [RecordingGap]) -> String {
    for (index, pair) in zip(recording.gaps, gaps).enumerated() where pair.0 != pair.1 {
      return "number \(index): silence \(pair.0), gap \(pair.1)"
    }
    return "\(recording.gaps.count) silences, \(gaps.count) gaps"
  }

  /// Returns the positions at which numbers differ from frames by more than `limit`, pauses
  /// excluded.
  private func misplaced(_ pauses: [RecordingPause], byMoreThan limit: Int) -> [String] {
    let mask = SoakSounds.numberCount - 1
    func error(_ lead: Int, _ right: Int) -> Int { (lead - right + mask / 2) & mask - mask / 2 }
    var total = 0
    var wanted = [(frame: 0, lead: 0)]
    for pause in pauses {
      total += pause.frames
      wanted.append((pause.frame, total & mask))
    }
    var wrong: [String] = []
    for lead in recording.leads {
      let right = wanted.last { $0.frame <= lead.frame }?.lead ?? 0
      let error = error(lead.frames, right)
      if abs(error) > limit { wrong.append("at frame \(lead.frame) by \(error)") }
    }
    for (index, right) in wanted.enumerated() {
      let end = index + 1 < wanted.count ? wanted[index + 1].frame : recording.frames
      guard end > right.frame else { continue }
      let error = error(recording.lead(before: end), right.lead)
      if abs(error) > limit { wrong.append("before frame \(end) by \(error)") }
    }
    return wrong
  }
}

extension TimelineEvent {
  /// Whether the captured samples lack the frames of this event.
  fileprivate var isGap: Bool {
    switch kind {
    case .captureXrun, .playbackXrun, .deviceReturned, .deviceAbsent, .captureReturned,
      .captureAbsent:
      true
    default: false
    }
  }
}
