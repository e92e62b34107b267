// LoudnessRecorder DEVICE FILE [SECONDS]: records, and prints the loudness once per second.
import Duplex

let arguments = CommandLine.arguments
guard arguments.count > 2 else { fatalError("usage: LoudnessRecorder DEVICE FILE [SECONDS]") }

/// Returns a level in decibels to one digit.
@Sendable func decibels(_ level: Double?) -> String {
  level.map { "\(($0 * 10).rounded() / 10)" } ?? "silence"
}

let engine = DuplexEngine(input: arguments[1], output: nil)
let recording = try await engine.record(to: arguments[2])
recording.addEventHandler { event in
  switch event {
  case .onlySilence: print("The input is silent.")
  case .diskLow(let seconds): print("The disk is full in \(Int(clamping: seconds)) s.")
  case .warning(let failure): print(failure.message)
  default: break
  }
}
/// The number of seconds that were printed.
let printed = MutexBox(0)
engine.addStatusHandler { _ in
  let state = recording.state
  let second = Int(clamping: state.seconds)
  let isNew = printed.withLock { printed in
    defer { printed = second }
    return printed < second
  }
  guard isNew else { return }
  let (momentary, whole) = (state.levels.momentaryLUFS, state.levels.integratedLUFS)
  print(
    "\(second) s, \(state.byteCount) bytes: \(decibels(momentary)) LUFS now, \(decibels(whole)) in all"
  )
}
try await engine.run(seconds: arguments.count > 3 ? Double(arguments[3]) ?? 10 : 10)
print("\(decibels(recording.report?.levels.integratedLUFS)) LUFS")
