import AudioFiles
import Testing

@Suite struct StationTests {
  let server = HostileServer.shared

  @Test(arguments: ["HTTP/1.0", "ICY", "HTTP/1.1"])
  func `metadata is removed from the audio of a station`(version: String) throws {
    let file = try server.open("station/x.mp3?as=\(version)", RemoteFileTimeouts())
    #expect(file.announcedBitRate == 128_000)
    #expect(file.byteCount == nil)
    #expect(!file.isSeekable)
    #expect(try hasPattern(file, count: 300_000))
    #expect(file.announcedTitle == "Third")
  }

  @Test func `the title is the name of the station before a title is announced`() throws {
    let file = try server.open("station/x.mp3?size=9000", RemoteFileTimeouts())
    #expect(try contents(file, count: 9000).count == 9000)
    #expect(file.announcedTitle == "Radio Hostile")
  }

  @Test func `a station is connected again after an interruption`() throws {
    let file = try server.open("station-drops/x.mp3?id=joined", RemoteFileTimeouts.short)
    #expect(try hasPattern(file, count: 300_000))
  }

  @Test func `only the latest bytes of an endless stream are kept`() throws {
    var bounds = RemoteFileBounds()
    bounds.window = 100_000
    bounds.readAhead = 50_000
    let file = try server.open("station-endless/x.mp3?id=endless", .short, bounds)
    #expect(try contents(file, count: 1_000_000).count == 1_000_000)
    #expect(file.readyByteCount(at: 995_000) >= 5000)
    #expect(failure { _ = try contents(file, from: 1000, count: 10) }?.kind == .readFailed)
  }
}
