import AudioBasics
import AudioFiles
import Glibc
import Testing

@Suite struct ReadmeTests {
  @Test func `the library code in the README runs`() throws {
    try monitorForASecond()
  }

  @Test func `the player in the README plays`() throws {
    let path = "/tmp/duplex-readme-\(UInt64.random(in: 0..<UInt64.max)).wav"
    defer { unlink(path) }
    var writer = try SoundFileWriter(
      path: path, fileFormat: .wav, sampleFormat: .s16, sampleRate: 48000, channelCount: 2,
      overwrite: false)
    let sound = SampleBuffer(frameCount: 48000, channelCount: 2)
    try writer.write(sound, frames: 48000)
    try writer.finish()
    try playTwiceBackwards(path)
  }

  @Test(arguments: ["ReadmeExample.swift", "PlayerExample.swift"])
  func `the library code in the README is the code that runs`(file: String) throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let example = try #require(text(of: (folder + [file[...]]).joined(separator: "/")))
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
