@testable import AudioFiles

extension FuzzTarget {
  /// The response headers of servers, and the metadata of radio stations.
  static let response = FuzzTarget("response", maximumLength: 4096) { input in
    guard (try? CurlLibrary.load()) != nil, let address = try? WebAddress("http://a.example/b.mp3")
    else { finding("there is no libcurl") }
    var header = ResponseHeader()
    let lines = input.bytes.split(separator: 10, omittingEmptySubsequences: false)
    for line in lines {
      header.add(String(fromNetwork: line.last == 13 ? line.dropLast() : line))
    }
    let first = ResponseRules(address: address, start: 0, known: nil)
    let facts = first.facts(header)
    let start = header.contentRange?.bytes?.lowerBound ?? 1 << 40
    let rules = [
      first, ResponseRules(address: address, start: nil, known: nil),
      ResponseRules(address: address, start: start, known: facts),
      ResponseRules(address: address, start: 77, known: RemoteFacts(byteCount: 1000)),
    ]
    for rule in rules {
      guard case .redirect(let target) = rule.verdict(header) else { continue }
      if let next = try? address.redirected(to: target) { _ = try? next.redirected(to: target) }
    }
    _ = try? WebAddress(String(fromNetwork: lines.first ?? []))
    guard let interval = header.announcementInterval else { return }
    var announcements = ICYMetadata(interval: interval % 100 + 1)
    input.bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count =
          switch announcements.next(rest) {
          case .sound(let count): count
          case .announcement(let count, title: _): count
          }
        guard count > 0 || rest.isEmpty else { continue }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }

}
