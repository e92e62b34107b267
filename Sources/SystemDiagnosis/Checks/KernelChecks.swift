import LinuxSystem

/// The checks of timers, preemption and virtualisation.
struct KernelChecks {
  private let machine: Machine
  private let files: SystemFiles
  private let version: String
  private let commandLine: [String]
  private let configuration: String

  init(_ machine: Machine) {
    self.machine = machine
    files = machine.files
    version = files.line("/proc/version") ?? ""
    commandLine = (files.line("/proc/cmdline") ?? "").split(separator: " ").map(String.init)
    let release = files.line("/proc/sys/kernel/osrelease") ?? ""
    configuration = files.text("/boot/config-\(release)", limit: 1 << 20) ?? ""
  }

  var findings: [Finding] {
    [timers, preemption] + (isVirtual ? [virtual] : [])
  }

  // MARK: Timers

  private var timers: Finding {
    let resolution = timerResolution
    if commandLine.contains("highres=off") || (resolution ?? 0) > 100_000 {
      let steps = resolution.map { " in steps of \(Milliseconds(Double($0) / 1e6))" } ?? " in ticks"
      return Finding(
        .problem, "coarseTimers",
        "The kernel's timers advance\(steps), which is as long as a short period.",
        remedy: commandLine.contains("highres=off")
          ? "Remove highres=off from the kernel's command line."
          : "Use a kernel with CONFIG_HIGH_RES_TIMERS.")
    }
    if resolution == nil, configuration.contains("# CONFIG_HIGH_RES_TIMERS is not set") {
      return Finding(
        .problem, "coarseTimers", "The kernel has no timers of high resolution.",
        remedy: "Use a kernel with CONFIG_HIGH_RES_TIMERS.")
    }
    return Finding(.fine, "timers", "The kernel's timers are of high resolution.")
  }

  /// The resolution in nanoseconds; nil if the kernel does not let this user read it.
  private var timerResolution: Int? {
    files.value(of: ".resolution", in: "/proc/timer_list")
      .flatMap { $0.split(separator: " ").first }.flatMap { Int($0) }
  }

  // MARK: Preemption

  /// The preemption model: how soon the kernel switches to another thread.
  private enum Preemption: String {
    case none, voluntary, lazy, full, realtime
  }

  private var preemption: Finding {
    let remedy =
      version.contains("PREEMPT_DYNAMIC")
      ? "Start the kernel with preempt=full on its command line."
      : "Use a kernel with full preemption, or PREEMPT_RT (linux-image-rt-amd64 in Debian)."
    switch found {
    case Preemption.none?:
      return Finding(
        .warning, "preemption",
        "The kernel is not preemptible: its own work may hold up the audio thread for milliseconds.",
        remedy: remedy)
    case .voluntary?:
      return Finding(
        .notice, "preemption",
        "The kernel switches to another thread only at some places (voluntary preemption).",
        remedy: remedy)
    case let kind?:
      return Finding(.fine, "preemption", "The kernel has \(kind.rawValue) preemption.")
    case nil:
      return Finding(.fine, "preemption", "The kernel does not report its preemption.")
    }
  }

  private var found: Preemption? {
    if version.contains("PREEMPT_RT") || files.line("/sys/kernel/realtime") == "1" {
      return .realtime
    }
    // The format is `none (voluntary) full`; only root can read it.
    if let modes = files.line("/sys/kernel/debug/sched/preempt"),
      let chosen = modes.split(separator: " ").first(where: { $0.hasPrefix("(") })
    {
      return Preemption(rawValue: String(chosen.dropFirst().dropLast()))
    }
    if version.contains("PREEMPT_DYNAMIC"),
      let word = commandLine.last(where: { $0.hasPrefix("preempt=") })
    {
      return Preemption(rawValue: String(word.dropFirst("preempt=".count)))
    }
    for (option, kind) in [
      ("PREEMPT_NONE", Preemption.none), ("PREEMPT_VOLUNTARY", .voluntary), ("PREEMPT_LAZY", .lazy),
      ("PREEMPT", .full),
    ] where configuration.contains("CONFIG_\(option)=y") { return kind }
    if version.contains("PREEMPT ") { return .full }
    return version.isEmpty || version.contains("PREEMPT") ? nil : Preemption.none
  }

  // MARK: Virtual machines

  private var isVirtual: Bool {
    (files.value(of: "flags", in: "/proc/cpuinfo") ?? "").split(separator: " ")
      .contains("hypervisor")
  }

  private var virtual: Finding {
    Finding(
      .notice, "virtualMachine",
      "This is a virtual machine: its host decides when its processors run.",
      remedy: "For low latency use the hardware itself.")
  }
}
