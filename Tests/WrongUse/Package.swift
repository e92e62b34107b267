// swift-tools-version: 6.2
import PackageDescription

// Tests the library's errors for wrong uses: Tests/EndToEnd/wrong-use builds this package for
// release and runs it.
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
