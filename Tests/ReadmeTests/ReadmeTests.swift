import Foundation
import Testing

@Suite struct ReadmeTests {
  /// The suite `library` builds the examples, runs them and counts their lines.
  @Test(arguments: ["RingModulator", "RecorderExample", "PlayerExample"])
  func `the README contains the example programs unchanged`(name: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let example = try String(
      contentsOf: root.appending(path: "Tests/Examples/\(name)/main.swift"), encoding: .utf8)
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains("```swift\n" + example + "```"))
  }
}
