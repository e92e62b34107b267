import Foundation
import Testing

/// Tests with every input for which a target of `Scripts/fuzz` once failed.
@Suite struct FindingTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Findings").standardizedFileURL

  private static let findings: [String] = FuzzTarget.all.flatMap { target in
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: target.name).path)
    return (names ?? []).sorted().map { "\(target.name)/\($0)" }
  }

  @Test("every target with findings exists, and there are findings")
  func areFindings() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(!folders.isEmpty && Self.findings.count >= folders.count)
    #expect(Set(folders).isSubset(of: FuzzTarget.all.map(\.name)))
  }

  @Test("a target accepts the inputs with which it failed earlier", arguments: findings)
  func passes(finding: String) throws {
    let path = Self.folder.appending(path: finding)
    let bytes = try [UInt8](Data(contentsOf: path))
    let target = try #require(
      FuzzTarget.all.first { $0.name == path.deletingLastPathComponent().lastPathComponent })
    bytes.withUnsafeBufferPointer {
      var input = FuzzInput($0)
      target.run(&input)
    }
  }
}
