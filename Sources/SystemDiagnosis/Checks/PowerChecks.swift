import LinuxSystem

/// The checks for power saving that causes delays: processor frequency and codec sleep.
struct PowerChecks {
  private let files: SystemFiles

  init(_ machine: Machine) { files = machine.files }

  var findings: [Finding] { [governor, codec].compactMap { $0 } }

  private static let processors = "/sys/devices/system/cpu"

  /// The finding about the frequency governors. Nil if the processors have none, as on virtual
  /// machines and some boards.
  private var governor: Finding? {
    var counts: [String: Int] = [:]
    var drivers: Set<String> = []
    for name in files.names(in: Self.processors) where Int(name.dropFirst(3)) != nil {
      let folder = "\(Self.processors)/\(name)/cpufreq"
      guard let governor = files.line("\(folder)/scaling_governor") else { continue }
      counts[governor, default: 0] += 1
      if let driver = files.line("\(folder)/scaling_driver") { drivers.insert(driver) }
    }
    guard !counts.isEmpty else { return nil }
    let all = counts.values.reduce(0, +)
    guard
      let (slow, count) = counts.filter({ $0.key != "performance" }).max(by: { $0.value < $1.value }
      )
    else {
      return Finding(.fine, "governor", "The processors run at full frequency (performance).")
    }
    // With these drivers, the governor of that name raises the frequency by itself.
    let staysLow =
      slow == "powersave" && drivers.isDisjoint(with: ["intel_pstate", "amd-pstate-epp"])
    return Finding(
      staysLow ? .warning : .notice, "governor",
      staysLow
        ? "\(count) of \(all) processors are kept at their lowest frequency (powersave)."
        : "\(count) of \(all) processors change their frequency with the load (\(slow)).",
      remedy: "Keep it high while you play: sudo cpupower frequency-set -g performance.")
  }

  /// The finding about the on-board codec, which is switched off after some seconds without audio.
  private var codec: Finding? {
    let path = "/sys/module/snd_hda_intel/parameters/power_save"
    guard let text = files.line(path), let seconds = Int(text) else { return nil }
    guard seconds > 0 else {
      return Finding(.fine, "codec", "The on-board codec is never switched off to save power.")
    }
    return Finding(
      .notice, "codecSleeps",
      "The on-board codec is switched off after \(seconds) s without sound: its next start is late "
        + "and may click.",
      remedy: "Keep it on: echo 0 | sudo tee \(path).")
  }
}
