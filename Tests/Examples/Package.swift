// swift-tools-version: 6.2
import PackageDescription

// Programs on the library, each one file with one import of ours: to be read, copied and changed.
//
//     swift run --package-path Tests/Examples RingModulator sim 10
let names = [
  "RingModulator", "Compressor", "RecorderExample", "PlayerExample", "LooperPedal", "Tuner",
  "MetronomeOverdub", "Talkback", "LevelTriggeredRecorder", "LatencyMeter", "StatusPage",
]

let package = Package(
  name: "duplex-examples",
  dependencies: [.package(name: "duplex", path: "../..")],
  targets: names.map { name in
    .executableTarget(
      name: name, dependencies: [.product(name: "Duplex", package: "duplex")], path: name,
      swiftSettings: [.treatAllWarnings(as: .error)])
  },
  swiftLanguageModes: [.v6]
)
