// swift-tools-version: 6.2
import PackageDescription

// What the library says to those who use it wrong: Tests/EndToEnd/wrong-use builds this for release
// and runs it.
let package = Package(
  name: "wrong-use",
  dependencies: [.package(name: "duplex", path: "../..")],
  targets: [
    .executableTarget(
      name: "WrongUse", dependencies: [.product(name: "Duplex", package: "duplex")], path: ".",
      exclude: ["Package.swift"])
  ],
  swiftLanguageModes: [.v6]
)
