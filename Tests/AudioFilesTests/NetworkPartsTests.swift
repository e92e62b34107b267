import Testing

@testable import AudioFiles

@Suite struct NetworkPartsTests {
  @Test func `byte ranges join, split and count like a set of bytes`() {
    var ranges = ByteRanges()
    var set: Set<Int> = []
    var number: UInt32 = 7
    func next(_ bound: UInt32) -> Int {
      number = number &* 1_664_525 &+ 1_013_904_223
      return Int((number >> 8) % bound)
    }
    for _ in 0..<2000 {
      let start = next(200)
      let range = start..<start + next(20)
      if next(3) == 0 {
        ranges.remove(range)
        set.subtract(range)
      } else {
        let new = Set(range).subtracting(set).count
        #expect(ranges.insert(range) == new)
        set.formUnion(range)
      }
      #expect(ranges.byteCount == set.count)
      #expect(Set(ranges.ranges.joined()) == set)
      let touches = zip(ranges.ranges, ranges.ranges.dropFirst()).contains {
        $0.upperBound >= $1.lowerBound
      }
      #expect(!touches)
      let offset = next(220)
      #expect(ranges.firstGap(from: offset) == (offset...).first { !set.contains($0) })
    }
  }

  @Test func `a Content-Range is parsed or refused`() {
    #expect(ContentRange("bytes 0-499/1234")?.bytes == 0..<500)
    #expect(ContentRange("bytes 5-5/*")?.total == nil)
    #expect(ContentRange("bytes */77")?.total == 77)
    for text in [
      "", "bytes", "bytes 5-4/10", "bytes 0-10/10", "bytes -1-5/10", "bytes 0-5", "lines 0-5/10",
      "bytes 0-5/99999999999999999999", "bytes all/of-it", "bytes 0-5/10/3",
    ] { #expect(ContentRange(text) == nil) }
  }

  @Test(
    arguments: [
      ("StreamTitle='A - B';", "A - B"), ("StreamTitle='It's me';StreamUrl='x';", "It's me"),
      ("StreamUrl='';StreamTitle='x", "x"), ("StreamTitle='';", ""), ("StreamTitle", nil),
    ] as [(String, String?)])
  func `a title is found in ICY metadata`(text: String, title: String?) {
    #expect(ICYMetadata.title(in: Array(text.utf8)) == title)
  }

  @Test func `a title that is not UTF-8 is Latin-1`() {
    let bytes = Array("StreamTitle='Caf".utf8) + [0xE9] + Array("';".utf8) + [0, 0]
    #expect(ICYMetadata.title(in: bytes) == "Caf\u{E9}")
  }

  @Test func `a title is valid from the byte after which it was announced`() {
    var titles = StationTitles()
    #expect(titles.title(at: 0) == nil)
    titles.begin(with: "Radio")
    titles.add("First", from: 1000, reader: 10)
    titles.add("Second", from: 2000, reader: 20)
    titles.begin(with: "Radio")
    let found = [0, 999, 1000, 1999, 2000, 9000].map { titles.title(at: $0) }
    #expect(found == ["Radio", "Radio", "First", "First", "Second", "Second"])
    // Of a thousand titles ahead of the reader, only some are kept, including the last one.
    for number in 0..<1000 { titles.add("\(number)", from: 3000 + number, reader: 1500) }
    #expect(titles.title(at: 1500) == "First")
    #expect(titles.title(at: 3010) == "10")
    #expect(titles.title(at: 9000) == "999")
  }

  @Test(
    arguments: [
      ("identity", true), ("none", true), ("UTF-8", true), ("binary", true), ("", true),
      ("gzip", false), ("GZIP", false), ("identity, br", false), ("x-gzip", false),
    ])
  func `a body is compressed unless its coding is a known identity`(
    coding: String, isIdentity: Bool
  ) {
    var header = ResponseHeader()
    header.add("HTTP/1.1 200 OK")
    header.add("Content-Encoding: \(coding)")
    #expect(header.isIdentity == isIdentity)
  }

  @Test func `a chunked body has no length, whatever the header states`() {
    var header = ResponseHeader()
    header.add("HTTP/1.1 200 OK")
    header.add("Content-Length: 1000")
    #expect(header.contentLength == 1000)
    header.add("Transfer-Encoding: chunked")
    #expect(header.contentLength == nil)
  }

  @Test func `a station that is briefly unavailable is retried, and a file is not`() throws {
    try CurlLibrary.load()
    let address = try WebAddress("http://a.example/live")
    var gone = ResponseHeader()
    gone.add("HTTP/1.0 404 File Not Found")
    func verdict(_ known: RemoteFacts?) -> ResponseVerdict {
      ResponseRules(address: address, start: nil, known: known).verdict(gone)
    }
    #expect(verdict(RemoteFacts(isLive: true)) == .later(.refused(address, 404)))
    #expect(verdict(RemoteFacts()) == .fail(.refused(address, 404)))
    #expect(verdict(nil) == .fail(.refused(address, 404)))
  }

  @Test(
    arguments: [
      ([:], nil, nil), (["SSL_CERT_FILE": ""], nil, nil),
      (["SSL_CERT_FILE": "f"], "SSL_CERT_FILE", nil), (["SSL_CERT_DIR": "d"], nil, "SSL_CERT_DIR"),
      (["SSL_CERT_FILE": "f", "SSL_CERT_DIR": "d"], "SSL_CERT_FILE", "SSL_CERT_DIR"),
      (["CURL_CA_BUNDLE": "b", "SSL_CERT_FILE": "f", "SSL_CERT_DIR": "d"], "CURL_CA_BUNDLE", nil),
      (["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "f"], "SSL_CERT_FILE", nil),
    ] as [([String: String], String?, String?)])
  func `certificates are found as curl finds them`(
    variables: [String: String], file: String?, folder: String?
  ) {
    let found = CertificateVariables { variables[$0] }
    #expect(found.file == file && found.folder == folder)
  }

  @Test(
    arguments: [
      ([:], "http://a.example/", nil),
      (["http_proxy": "p"], "http://a.example/", "http_proxy"),
      (["http_proxy": "p"], "https://a.example/", nil),
      (["HTTP_PROXY": "p"], "http://a.example/", nil),
      (
        ["https_proxy": "", "HTTPS_PROXY": "p", "ALL_PROXY": "q"], "https://a.example/",
        "HTTPS_PROXY"
      ),
      (["ALL_PROXY": "q"], "http://a.example:80/", "ALL_PROXY"),
      (["all_proxy": "q", "no_proxy": "b.example, .A.example"], "http://a.example:80/", nil),
      (["all_proxy": "q", "no_proxy": "example"], "http://a.example/", nil),
      (["all_proxy": "q", "no_proxy": "ample"], "http://a.example/", "all_proxy"),
      (["all_proxy": "q", "NO_PROXY": "*"], "http://a.example/", nil),
      (["all_proxy": "q", "no_proxy": "::1"], "http://u:p@[::1]:80/a", nil),
      (["all_proxy": "q", "no_proxy": "b.example,*"], "http://a.example/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "a.example."], "http://a.example/", nil),
      (["all_proxy": "q", "no_proxy": "a.example"], "http://a.example./", nil),
      (["all_proxy": "q", "no_proxy": "..example"], "http://a.example/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "b.example\ta.example"], "http://a.example/", nil),
      (["all_proxy": "q", "no_proxy": "127.0.0.0/8"], "http://127.1.2.3/", nil),
      (["all_proxy": "q", "no_proxy": "127.0.0.0/8"], "http://128.0.0.1/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "10.0.0.0/31"], "http://10.0.0.2/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "0.0.0.0/0"], "http://10.0.0.2/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "10.0.0.2/33"], "http://10.0.0.2/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "10.0.0.2/-1"], "http://10.0.0.2/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "0.0.2,0.0.2/8,/,/8"], "http://10.0.0.2/", "all_proxy"),
      (["all_proxy": "q", "no_proxy": "fd00::/8"], "http://[fd12::1]/", nil),
      (["all_proxy": "q", "no_proxy": "fd00::/8,10.0.0.0/8"], "http://[fe80::1]/", "all_proxy"),
    ] as [([String: String], String, String?)])
  func `the proxy that is used is named`(
    variables: [String: String], text: String, name: String?
  ) throws {
    try CurlLibrary.load()
    let address = try WebAddress(text)
    let found = ProxyVariable.name(
      isEncrypted: address.isEncrypted, host: address.host, { variables[$0] })
    #expect(found == name)
  }

  @Test(
    arguments: [
      (407, .userRejected, false), (403, .other, false), (300, .other, false), (408, .other, true),
      (425, .other, true), (429, .other, true), (500, .other, true), (501, .other, true),
      (502, .hostUnreachable, true), (503, .hostUnreachable, true), (504, .hostUnreachable, true),
    ] as [(Int, ProxyRefusal.Kind, Bool)])
  func `the statuses of a proxy are temporary as those of a server`(
    status: Int, kind: ProxyRefusal.Kind, isTemporary: Bool
  ) throws {
    try CurlLibrary.load()
    let refusal = ProxyRefusal(status: status)
    #expect(refusal.kind == kind)
    #expect(refusal.isTemporary == isTemporary)
    var header = ResponseHeader()
    header.add("HTTP/1.1 \(status) x")
    let address = try WebAddress("http://a.example/live")
    let verdict = ResponseRules(address: address, start: nil, known: nil).verdict(header)
    #expect(isTemporary == (verdict == .later(.refused(address, status))))
  }

  @Test func `a proxy that cannot reach the server names it, and no password`() throws {
    try CurlLibrary.load()
    let address = try WebAddress("https://user:secret@a.example:8443/b?c")
    let failure = FileFailure.refusedByProxy(address, ProxyRefusal(status: 503))
    #expect(failure.message == "The proxy cannot reach a.example (HTTP 503).")
    #expect(failure.hint == "Check the address, and try again later.")
    #expect(ProxyRefusal(.hostUnreachable).isTemporary)
    #expect(!ProxyRefusal(.userRejected).isTemporary)
    #expect(!ProxyRefusal(.other).isTemporary)
  }

  @Test func `a redirect does not lead from https to http, nor off the web`() throws {
    try CurlLibrary.load()
    let address = try WebAddress("https://a.example/b/c.wav")
    #expect(try address.redirected(to: "d e.wav").text == "https://a.example/b/d%20e.wav")
    #expect(try address.redirected(to: "//b.example/x").text == "https://b.example/x")
    for target in ["http://a.example/c.wav", "file:///etc/passwd", "ftp://a.example/"] {
      #expect(throws: FileFailure.self) { try address.redirected(to: target) }
    }
    let plain = try WebAddress("http://a.example/")
    #expect(try plain.redirected(to: "https://a.example/x").isEncrypted)
  }

  @Test func `a weak tag does not validate a range, but shows a change`() {
    let weak = FileValidator(tag: "W/\"1\"", date: "Monday")
    #expect(weak.condition == "Monday")
    #expect(FileValidator(tag: "\"1\"", date: "Monday").condition == "\"1\"")
    #expect(weak.differs(from: FileValidator(tag: "W/\"2\"", date: "Monday")))
    #expect(!weak.differs(from: FileValidator(tag: nil, date: "Monday")))
  }

  @Test func `a watch distinguishes a stall from a low speed, and neither occurs in a pause`() {
    var watch = TransferWatch(RemoteFileTimeouts(), now: 0, answerDeadline: 10)
    #expect(watch.timeout(now: 9.9) == nil)
    #expect(watch.timeout(now: 10) == .noAnswer)
    watch.answered(now: 5)
    #expect(watch.timeout(now: 14.9) == nil)
    #expect(watch.timeout(now: 15) == .stall)
    for second in 6...24 { watch.received(100, now: Double(second)) }
    #expect(watch.timeout(now: 25) == .lowSpeed)
    watch.pause()
    #expect(watch.timeout(now: 1000) == nil)
    watch.proceed(now: 1000)
    #expect(watch.timeout(now: 1009) == nil)
  }

  @Test func `the pause between retries doubles, and restarts after progress`() {
    var backoff = RetryBackoff(RemoteFileTimeouts())
    let pauses = (0..<6).map { _ in backoff.next() }
    #expect(pauses == [0.25, 0.5, 1, 2, 4, nil])
    backoff.reset()
    #expect(backoff.next() == 0.25)
  }

  @Test func `a server that never accepted a connection is given up sooner`() {
    var backoff = RetryBackoff(RemoteFileTimeouts())
    let pauses = (0..<3).map { _ in backoff.next(isUnconnected: true) }
    #expect(pauses == [0.25, 0.5, nil])
    #expect(backoff.next() == 1)
  }

  @Test func `a rate is measured only while bytes are wanted`() throws {
    var meter = RateMeter()
    #expect(meter.rate(now: 0) == nil)
    meter.begin(now: 0)
    for tenth in 1...100 { meter.received(1000, now: Double(tenth) / 10) }
    meter.pause(now: 10)
    let rate = try #require(meter.rate(now: 500))
    #expect(abs(rate - 10_000) < 600)
  }

  @Test func `the cache discards bytes before the reader first`() throws {
    let cache = try SparseCache(folders: ["/nowhere", "/tmp"])
    let bytes = [UInt8](repeating: 5, count: 100_000)
    for offset in [0, 200_000, 400_000] {
      let new = try bytes.withUnsafeBytes { try cache.write($0, at: offset) }
      #expect(new == 100_000)
    }
    cache.shrink(to: 150_000, reader: 250_000)
    #expect(cache.present.firstGap(from: 0) == 0)
    #expect(cache.present.firstGap(from: 250_000) == 300_000)
    #expect(cache.present.firstGap(from: 400_000) == 500_000)
    cache.shrink(to: 60_000, reader: 250_000)
    #expect(cache.present.firstGap(from: 250_000) == 300_000)
    #expect(cache.present.byteCount < 70_000)
  }

  @Test func `the cache frees the disk space of discarded bytes`() throws {
    let cache = try SparseCache(folders: ["/tmp"])
    let bytes = [UInt8](repeating: 5, count: 1_000_000)
    _ = try bytes.withUnsafeBytes { try cache.write($0, at: 0) }
    let full = cache.occupiedByteCount
    try #require(full >= 1_000_000)
    cache.shrink(to: 100_000, reader: 950_000)
    #expect(cache.occupiedByteCount <= full - 850_000)
    // The remaining bytes are unchanged.
    var rest = [UInt8](repeating: 0, count: 50_000)
    let count = try rest.withUnsafeMutableBytes { try cache.read(into: $0, at: 950_000) }
    #expect(count == 50_000)
    #expect(rest == Array(bytes[..<50_000]))
  }

  @Test(arguments: [4096, 5000, 20_000, 99_999])
  func `bytes ahead of the reader are kept as long as there are bytes before it`(step: Int) throws {
    let cache = try SparseCache(folders: ["/tmp"])
    let bytes = [UInt8](repeating: 5, count: step)
    for offset in stride(from: 0, to: 2_000_000, by: step) {
      _ = try bytes.withUnsafeBytes { try cache.write($0, at: offset) }
      cache.shrink(to: 100_000 + step, reader: max(0, offset - 50_000))
      #expect(cache.present.firstGap(from: max(0, offset - 50_000)) == offset + step)
      #expect(cache.present.byteCount <= 110_000 + step)
    }
  }

  @Test func `the wait for a second of audio is limited, whatever causes it`() {
    var wait = SoundWait(maximumSeconds: 18, waited: 5, sampleRate: 1000)
    #expect(wait.rest == 13)
    wait.waited(3)
    wait.received(999)
    #expect(wait.rest == 10)
    // The source is polled and not ready: the first poll starts the wait, and a late one counts
    // little.
    let early = [100.0, 100.05, 200.0].map { wait.poll(isReady: false, now: $0) }
    #expect(!early.contains(true))
    #expect(abs(wait.rest - 9.85) < 1e-9)
    let later = (1...98).map { wait.poll(isReady: false, now: 200 + 0.1 * Double($0)) }
    #expect(!later.contains(true))
    let last = wait.poll(isReady: false, now: 210)
    #expect(last)
    #expect(wait.rest == 0)
    wait.received(1)
    #expect(wait.rest == 18)
    let fresh = wait.poll(isReady: true, now: 300)
    #expect(!fresh && wait.rest == 18)
  }
}
