// swift-tools-version: 6.2
import PackageDescription

// Example programs for the library, each in one file with one import of this package: to read, copy
// and change.
//
//     swift run --package-path Tests/Examples RingModulator sim 10
let names = [
  "RingModulator", "Compressor", "RecorderExample", "PlayerExample", "LooperPedal", "Tuner",
  "MetronomeOverdub", "Talkback", "LevelTriggeredRecorder", "LatencyMeter", "LoudnessRecorder",
  "StatusPage",
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
