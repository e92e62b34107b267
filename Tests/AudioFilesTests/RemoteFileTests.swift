import AudioFiles
import Testing

@Suite struct RemoteFileTests {
  let server = HostileServer.shared

  @Test(arguments: [
    "ok", "by-date", "interim", "http-1-0", "no-range", "no-length", "chunked",
    "chunked-with-trailer", "no-type", "no-ranges-416", "garbled-range", "long-body",
  ])
  func `every byte is received`(fault: String) throws {
    let file = try server.open("\(fault)/x.wav?id=all")
    #expect(try isWhole(file))
    #expect(file.byteCount == 300_000)
    #expect(file.isSeekable)
    #expect(file.bytesPerSecond == nil)
  }

  @Test(arguments: [
    "drop-once", "drop-often", "drop-with-reset", "drop-no-range", "unavailable-on-resume",
    "forgets-ranges", "redirect-expires",
  ])
  func `an interrupted transfer is resumed`(fault: String) throws {
    #expect(try isWhole(try server.open("\(fault)/x.wav?id=mend")))
  }

  @Test(arguments: ["stall", "stall-once"])
  func `a stalled transfer is requested again`(fault: String) throws {
    #expect(try isWhole(try server.open("\(fault)/x.wav?id=silent", .restless)))
  }

  @Test(arguments: [
    "drop-at", "drop-no-range-always", "truncated-chunk",
    "bad-chunk", "changed-tag", "changed-tag-ignored", "changed-length", "shrunk", "short-body",
    "other-range-on-resume",
  ])
  func `bytes received before a final failure can be read`(fault: String) throws {
    let file = try server.open("\(fault)/x.wav?id=good")
    var bytes: [UInt8] = []
    let trouble = failure { _ = try read(file, from: 0, count: .max, into: &bytes) }
    #expect(trouble?.kind == .readFailed)
    #expect(trouble?.message.contains("127.0.0.1") == true)
    let expected = fault == "short-body" ? 300_000 : 100_000
    #expect(bytes.count == expected)
    #expect(isPattern(bytes))
    #expect(try hasPattern(file, count: expected))
  }

  @Test(
    arguments: [
      ("status/x.wav?is=404", .cannotOpen), ("status/x.wav?is=410", .cannotOpen),
      ("status/x.wav?is=401", .permissionDenied), ("status/x.wav?is=403", .permissionDenied),
      ("status/x.wav?is=416", .cannotOpen), ("status/x.wav?is=503", .cannotOpen),
      ("status/x.wav?is=204", .cannotOpen), ("type/x.wav?is=text/html", .unusableContents),
      ("type/x?is=text/plain", .unusableContents), ("type/x.wav?is=image/png", .unusableContents),
      ("redirect/x.wav?hops=21", .cannotOpen), ("redirect-loop/x.wav", .cannotOpen),
      ("redirect-to/x.wav?what=file", .cannotOpen), ("redirect-to/x.wav?what=ftp", .cannotOpen),
      ("redirect-to/x.wav?what=nothing", .cannotOpen), ("redirect-nowhere/x.wav", .cannotOpen),
      ("garbage/x.wav", .unusableContents), ("long-header/x.wav", .unusableContents),
      ("packed/x.wav", .unusableContents), ("reset/x.wav", .cannotOpen),
      ("close/x.wav", .cannotOpen),
    ] as [(String, FileFailure.Kind)])
  func `an address that cannot be opened is reported at once`(path: String, kind: FileFailure.Kind)
  {
    let trouble = failure { _ = try server.open(path) }
    #expect(trouble?.kind == kind)
    #expect(trouble?.message.contains("127.0.0.1") == true)
    #expect(trouble?.message.hasSuffix(".") == true)
  }

  @Test(arguments: ["silence", "slow-header"])
  func `a server that does not answer is given up`(fault: String) {
    var timeouts = RemoteFileTimeouts.short
    timeouts.openTimeout = 0.3
    #expect(failure { _ = try server.open("\(fault)/x.wav", timeouts) }?.kind == .cannotOpen)
  }

  @Test(arguments: ["unavailable-twice", "reset-twice", "redirect"])
  func `an address that works after some retries is opened`(fault: String) throws {
    #expect(try isWhole(try server.open("\(fault)/x.wav?id=while")))
  }

  @Test func `up to 20 redirects are followed`() throws {
    #expect(try isWhole(try server.open("redirect/x.wav?hops=20")))
  }

  @Test(arguments: [
    "application/octet-stream", "audio/x-flac", "video/mp4", "application/ogg",
    "AUDIO/MPEG;%20q=1", "text/plain",
  ])
  func `media types that may be audio are accepted`(type: String) throws {
    #expect(try server.open("type/x.flac?is=\(type)").byteCount == 300_000)
  }

  @Test(arguments: ["empty", "empty-200"]) func `an empty file has no bytes`(fault: String) throws {
    let file = try server.open("\(fault)/x.wav")
    #expect(file.byteCount == 0)
    #expect(try contents(file).isEmpty)
  }

  @Test func `a transfer of very low speed ends with a failure`() throws {
    var timeouts = RemoteFileTimeouts.short
    timeouts.lowSpeedTime = 0.1
    let file = try server.open("drip/x.wav?rate=40", timeouts)
    #expect(failure { _ = try contents(file) }?.kind == .cannotOpen)
  }

  @Test func `too few bytes within the time for the first audio fail the opening`() throws {
    var timeouts = RemoteFileTimeouts.short
    timeouts.audioTimeout = 0.2
    let file = try server.open("drip/x.wav?id=sound", timeouts)
    let trouble = failure {
      _ = try file.probe { () throws(FileFailure) in try contents(file) }
    }
    #expect(trouble?.kind == .cannotOpen)
  }

  @Test func `a server that never sends the first bytes fails the opening`() throws {
    let file = try server.open("drop-always/x.wav?id=first")
    #expect(failure { _ = try contents(file) }?.kind == .cannotOpen)
    #expect(file.isBroken)
  }

  @Test func `a file that no longer exists on a resumption is reported`() throws {
    let file = try server.open("gone-on-resume/x.wav?id=gone")
    var bytes: [UInt8] = []
    let trouble = failure { _ = try read(file, from: 0, count: .max, into: &bytes) }
    #expect(trouble?.kind == .cannotOpen)
    #expect(bytes.count == 100_000)
  }

  @Test(arguments: ["ftp://127.0.0.1/x.wav", "file:///etc/passwd", "song.wav", "http://", ""])
  func `only HTTP and HTTPS addresses are fetched`(address: String) {
    #expect(failure { _ = try RemoteFile(address: address) }?.kind == .cannotOpen)
  }

  @Test func `the name of a file contains no user and no password`() throws {
    let file = try RemoteFile(address: "http://me:secret@127.0.0.1:\(server.port)/ok/x.wav")
    #expect(file.name == "http://127.0.0.1:\(server.port)/ok/x.wav")
  }
}
