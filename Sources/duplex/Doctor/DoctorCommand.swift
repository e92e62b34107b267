import ArgumentParser
import AudioDevices
import LatencyMeasurement
import RealtimeAudio
import SystemDiagnosis

/// The command `duplex doctor`.
struct DoctorCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find what keeps this machine from low latency, and what to do.",
    discussion: """
      Checks sound cards and permissions, sound servers, realtime priority, memory limits, timers, \
      preemption, processor frequency, USB ports and power saving, and measures how late a thread is \
      woken up. This takes about 2 s, opens no device and changes nothing. A problem makes low \
      latency or all sound impossible, a warning makes latency worse, a notice is useful to know; the \
      worst come first. The exit status is 1 if there is a problem, else 0.
      """)

  @Flag(help: "Keep every processor and the disk busy while wake-ups are measured.")
  var load = false

  @Flag(help: "Print JSON events, one per line, and nothing else on standard output.")
  var json = false

  @Flag(name: [.customShort("v"), .long], help: "Also show the checks that found no problem.")
  var verbose = false

  var outputMode: OutputMode { OutputMode(json: json) }

  func perform() throws -> ExitStatus { try DoctorRun(self).run() }
}

/// One run of the command: performs all checks and prints the findings.
private struct DoctorRun {
  let command: DoctorCommand

  init(_ command: DoctorCommand) { self.command = command }

  func run() throws -> ExitStatus {
    let start = HostClock.nanoseconds
    let load = command.load ? try SystemLoad(folder: SystemLoad.defaultFolder) : nil
    // It runs in parallel with the other checks.
    let measurement = Result { () throws(ThreadFailure) in try WakeUpMeasurement() }
    var wakeUps: WakeUpSample?
    let findings = Machine().findings(
      configuration: ALSAConfiguration.failure.map { ($0.message, $0.hint) },
      defaultServer: ALSAConfiguration.defaultServer,
      wakeUps: try { () throws(ThreadFailure) in
        wakeUps = try measurement.get().sample(until: start + 2_500_000_000)
        return wakeUps
      }())
    withExtendedLifetime(load) {}
    let counts = Finding.Severity.allCases.map { severity in
      findings.count { $0.severity == severity }
    }
    for finding in findings { show(finding) }
    let seconds = Double(HostClock.nanoseconds - start) / 1e9
    let sentence = Self.sentence(findings.count, counts)
    if command.json {
      if counts[0] > 0 {
        let worst = findings[0]
        Terminal.emit(
          ToolFailure(.loss, code: worst.code, worst.message, hint: worst.remedy).event)
      }
      Terminal.emit(summary(findings, counts, wakeUps, seconds))
    } else {
      Terminal.printLine("\(sentence)")
    }
    return counts[0] > 0 ? .loss : .done
  }

  private func show(_ finding: Finding) {
    if command.json {
      Terminal.emit(Event("finding", finding.fields))
    } else if command.verbose || finding.severity != .fine {
      let width = Terminal.width
      let label = finding.severity.rawValue
      let indent = "".padded(to: 9)
      Terminal.printLines(
        TextLines(finding.message, width: width, first: label.padded(to: 9), next: indent))
      guard !finding.remedy.isEmpty else { return }
      Terminal.printLines(
        TextLines(finding.remedy, width: width, first: "      -> ", next: indent))
    }
  }

  /// Returns the number of checks and the number of findings of each weight as a sentence.
  private static func sentence(_ all: Int, _ counts: [Int]) -> String {
    let words = zip(counts, ["problem", "warning", "notice"]).compactMap { count, word in
      count == 0 ? nil : count.counted(word)
    }
    return "\(all) checks: " + (words.isEmpty ? "no problem found" : words.joined(separator: ", "))
      + "."
  }

  private func summary(
    _ findings: [Finding], _ counts: [Int], _ wakeUps: WakeUpSample?, _ seconds: Double
  ) -> Event {
    .summary([
      "command": "doctor", "seconds": seconds, "checks": findings.count, "problems": counts[0],
      "warnings": counts[1], "notices": counts[2], "wakeUps": wakeUps?.fields,
    ])
  }
}

extension Finding {
  fileprivate var fields: Fields {
    ["weight": severity.rawValue, "code": code, "message": message, "hint": remedy]
  }
}

extension WakeUpSample {
  fileprivate var fields: Fields {
    [
      "realtimePriority": granted.number, "count": count,
      "meanMilliseconds": meanMicroseconds / 1000,
      "mostMilliseconds": percentile99Microseconds / 1000,
      "worstMilliseconds": worstMicroseconds / 1000,
    ]
  }
}
