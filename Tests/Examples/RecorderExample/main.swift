import Duplex

let engine = DuplexEngine(input: CommandLine.arguments[1], output: nil)
let recording = try await engine.record(to: CommandLine.arguments[2])
try await engine.run(seconds: 10)
print("\(recording.report?.frames ?? 0) frames")
