import Glibc
import Testing

@Suite struct ReadmeTests {
  @Test func `the library code in the README runs`() throws {
    try monitorForASecond()
  }

  @Test func `the library code in the README is the code that runs`() throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let example = try #require(text(of: (folder + ["ReadmeExample.swift"]).joined(separator: "/")))
    let readme = try #require(
      text(of: (folder.dropLast(2) + ["README.md"]).joined(separator: "/")))
    #expect(readme.contains("```swift\n" + example + "```"))
  }

  private func text(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
