import Duplex

var settings = DuplexEngine.Settings()
settings.endsWithPlayer = true
let engine = DuplexEngine(input: nil, output: CommandLine.arguments[1], settings)
engine.player.addEventHandler { event in print(event.kind, event.source, event.frame ?? "") }
for path in CommandLine.arguments.dropFirst(2) { engine.player.enqueue(path: path) }
engine.player.play()
try await engine.start()
let report = await engine.finished()
print("\(report.frames) frames")
