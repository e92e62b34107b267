import LinuxSystem
import RealtimeAudio

/// The checks of realtime priority, locked memory and wake-up delays.
struct PriorityChecks {
  private let machine: Machine
  private let files: SystemFiles
  private let wakeUps: Result<WakeUpSample?, ThreadFailure>

  init(_ machine: Machine, _ wakeUps: Result<WakeUpSample?, ThreadFailure>) {
    self.machine = machine
    files = machine.files
    self.wakeUps = wakeUps
  }

  var findings: [Finding] {
    switch wakeUps {
    case .success(let sample?): [priority(sample.granted), memory, lateness(sample)]
    case .success(nil):
      [
        Finding(
          .problem, "wakeUpsStuck",
          "A thread that asked for realtime priority was not woken up again.",
          remedy: "Check with top which program keeps the processors busy, and whether dbus runs."),
        memory,
      ]
    case .failure(let failure):
      [Finding(.problem, "noThread", failure.message, remedy: failure.hint), memory]
    }
  }

  /// The advice on how to allow realtime priority permanently.
  private var limitsRemedy: String {
    machine.isContainer
      ? "Start the container with --cap-add SYS_NICE --ulimit rtprio=95."
      : "Put \"@audio - rtprio 95\" into /etc/security/limits.d/audio.conf, add the user to the group "
        + "audio and log in again."
  }

  private func priority(_ granted: GrantedPriority) -> Finding {
    switch granted.policy {
    case .normal:
      return Finding(
        .problem, "noRealtime",
        "Realtime priority is refused: other programs may delay the audio thread.",
        remedy: limitsRemedy)
    case .roundRobin:
      return Finding(
        .notice, "realtimeKit",
        "Realtime priority \(granted.number) is granted by RealtimeKit, which ends a program whose "
          + "audio thread computes for 200 ms without a pause.",
        remedy: limitsRemedy)
    case .fifo where granted.number < WakeUpSample.wantedPriority:
      return Finding(
        .warning, "lowRealtime",
        "Realtime priority \(granted.number) is granted, not \(WakeUpSample.wantedPriority).",
        remedy: limitsRemedy)
    case .fifo:
      return Finding(
        .fine, "realtime", "Realtime priority \(granted.number) (SCHED_FIFO) is granted.")
    }
  }

  private var memory: Finding {
    let limit = files.text("/proc/self/limits")?.split(separator: "\n")
      .first { $0.hasPrefix("Max locked memory") }?
      .split(separator: " ").dropFirst(3).first.map(String.init)
    // CAP_IPC_LOCK
    guard !machine.isCapable(of: 14), let limit, limit != "unlimited" else {
      return Finding(.fine, "memory", "The program may keep its memory from being swapped out.")
    }
    let hasSwap = (files.text("/proc/swaps") ?? "").split(separator: "\n").count > 1
    let size = Int(limit).map { $0 < 1 << 20 ? "\($0 >> 10) KiB" : "\($0 >> 20) MiB" } ?? limit
    return Finding(
      hasSwap ? .warning : .notice, "memoryLimit",
      "This user may lock \(size) of memory, not all, so that parts of the program may be swapped out.",
      remedy: machine.isContainer
        ? "Start the container with --ulimit memlock=-1."
        : "Put \"@audio - memlock unlimited\" into /etc/security/limits.d/audio.conf, add the user "
          + "to the group audio and log in again.")
  }

  private func lateness(_ wakeUps: WakeUpSample) -> Finding {
    let worst = Milliseconds(wakeUps.worstMicroseconds / 1000)
    let maximum = Milliseconds(wakeUps.percentile99Microseconds / 1000)
    let message =
      "Of \(wakeUps.count) wake-ups the worst was \(worst) late, 99 of 100 were at most \(maximum) late."
    let severity: Finding.Severity =
      switch wakeUps.worstMicroseconds {
      case _ where wakeUps.percentile99Microseconds > 2000: .problem
      case 1000...: .warning
      case 500...: .notice
      default: .fine
      }
    guard severity != .fine else { return Finding(.fine, "wakeUps", message) }
    // A period must be longer than the longest delay.
    let period = wakeUps.worstMicroseconds * 0.048
    let frames = (5...16).map { 1 << $0 }.first { Double($0) > period } ?? 65536
    return Finding(
      severity, "wakeUps", message,
      remedy: wakeUps.granted.policy == .normal
        ? "Allow realtime priority first, then look again."
        : "Use a period of \(frames) frames or more (-p \(frames)) at 48 kHz, or let duplex tune find "
          + "one.")
  }
}
