import AudioBasics
import Reports
import Testing

@Suite struct LatencyPictureTests {
  @Test func `a picture without measurements is still valid`() {
    let picture = LatencyPicture.empty
    for text in [picture.svg(), picture.html()] {
      #expect(isBalanced(text))
      #expect(text.occurrences(of: "nothing measured") == 5)
    }
  }

  @Test func `values that are not finite are not drawn`() {
    var picture = LatencyPicture.typical
    picture.roundTripFrames = .nan
    picture.standardDeviationFrames = .infinity
    picture.impulseResponse.values += [.nan, .infinity, -.infinity, .greatestFiniteMagnitude]
    picture.impulseResponse.firstFrame = .nan
    picture.correlation.values[7] = .nan
    picture.correlation.firstFrame = -.infinity
    picture.correlation.stepFrames = .nan
    picture.arrivals += [.nan, .infinity]
    picture.measurements += [.nan, .greatestFiniteMagnitude]
    picture.bufferFrames = .nan
    picture.claimedFrames = .infinity
    for text in [picture.svg(), picture.html()] {
      #expect(isBalanced(text))
      #expect(!hasNonNumber(text))
    }
    #expect(picture.svg().occurrences(of: #"class="arrival""#) == 2)
  }

  @Test func `text is escaped as markup`() {
    var picture = LatencyPicture.typical
    picture.title = "<b>\"R&D\" 'x'</b>\u{1}"
    for text in [picture.svg(), picture.html()] {
      #expect(isBalanced(text))
      #expect(text.contains("&lt;b&gt;&quot;R&amp;D&quot; &#39;x&#39;&lt;/b&gt;"))
      #expect(!text.contains("<b>") && !text.contains("\u{1}"))
    }
  }

  @Test func `every arrival has a mark, however close arrivals are`() {
    var picture = LatencyPicture.typical
    picture.arrivals = [-50, 293, 293, 293.5, 294, 295, 299, 9000]
    #expect(picture.svg().occurrences(of: #"class="arrival""#) == 8)
  }

  @Test(arguments: [
    [], [128], [128, 128, 128], [293.0195, 293.0201, 293.0205], [100, 350, 600], [-1, 0, 1],
    [1e9, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
  ])
  func `the bars of the histogram sum up to the measurements`(measurements: [Double]) {
    var picture = LatencyPicture.typical
    picture.measurements = measurements
    let bars = picture.svg().pieces(after: #"<g class="bar"><title>"#)
    let counts = bars.compactMap { Int($0.prefix { $0.isNumber }) }
    #expect(counts.count == bars.count)
    #expect(counts.reduce(0, +) == measurements.count)
  }

  @Test func `a peak of one sample among a million is drawn`() throws {
    var picture = LatencyPicture.empty
    picture.impulseResponse.values = Array(repeating: 0, count: 1_000_000)
    picture.impulseResponse.values[654_321] = 1
    let svg = picture.svg()
    let curve = try #require(svg.pieces(after: #" points=""#).first).prefix { $0 != "\"" }
    let heights = Set(curve.split(separator: " ").compactMap { $0.split(separator: ",").last })
    #expect(heights.count == 2)
    #expect(svg.utf8.count < 100_000)
  }

  @Test func `the latency that ALSA reports is marked if it is known`() {
    var picture = LatencyPicture.typical
    #expect(picture.svg().occurrences(of: #"class="claim""#) == 1)
    picture.claimedFrames = nil
    #expect(picture.svg().occurrences(of: #"class="claim""#) == 0)
  }

  @Test func `a negative part is drawn with a positive width`() {
    var picture = LatencyPicture.typical
    picture.roundTripFrames = picture.bufferFrames - 3
    #expect(picture.externalFrames == -3)
    #expect(!picture.svg().contains(#"width="-"#))
    #expect(picture.svg().contains("\u{2212}3 frames"))
  }

  @Test func `the picture and the table contain the figures`() {
    let picture = LatencyPicture.typical
    #expect(picture.svg().contains(">6.105 ms<"))
    #expect(picture.svg().contains(">293.021 \u{B1} 0.021 frames<"))
    #expect(picture.svg().contains("37.02 frames more than ALSA claims"))
    #expect(picture.html().contains("<td>293.021</td><td>6.104604</td>"))
  }

  @Test func `a page contains no script and no reference to another file`() {
    let page = LatencyPicture.typical.html()
    #expect(page.hasPrefix("<!DOCTYPE html>"))
    #expect(page.contains("<svg ") && page.contains("<table>"))
    for reference in ["src=", "href=", "url(", "@import", "<script", "<link"] {
      #expect(!page.contains(reference))
    }
  }

  @Test func `a picture has dark colours for readers who prefer them`() {
    #expect(LatencyPicture.typical.svg().contains("@media (prefers-color-scheme:dark)"))
  }
}

@Suite struct TunePictureTests {
  @Test func `a search without trials is still valid`() {
    let picture = TunePicture(
      title: "", subtitle: "", sampleRate: 0, trials: [], chosen: 0, loadLimit: .nan)
    for text in [picture.svg(), picture.html()] {
      #expect(isBalanced(text))
      #expect(text.contains("nothing measured"))
    }
  }

  @Test func `every trial has a symbol, and a row in the table`() {
    let picture = TunePicture.typical
    #expect(picture.svg().occurrences(of: #"<g class="stable">"#) == 2)
    #expect(picture.svg().occurrences(of: #"<g class="refused">"#) == 1)
    #expect(picture.html().occurrences(of: #"<th scope="row">"#) == 3)
  }

  @Test func `only a trial that exists is highlighted`() {
    var picture = TunePicture.typical
    #expect(picture.svg().occurrences(of: #"class="fill-highlight""#) == 1)
    #expect(picture.html().contains("stable, chosen"))
    for index in [nil, -1, 3] {
      picture.chosen = index
      #expect(picture.svg().occurrences(of: #"class="fill-highlight""#) == 0)
      #expect(picture.svg().contains("none chosen"))
    }
  }

  @Test func `settings that are far apart are drawn on a logarithmic scale`() {
    var picture = TunePicture.typical
    #expect(!picture.svg().contains("logarithmic"))
    picture.trials[0].periodFrames = 4096
    #expect(picture.svg().contains("logarithmic"))
  }

  @Test func `the load limit is drawn as a line`() {
    #expect(TunePicture.typical.svg().occurrences(of: #"class="limit""#) == 1)
  }

  @Test func `trials with extreme values are still drawn`() {
    var picture = TunePicture.typical
    picture.trials += [
      TunePicture.Trial(
        periodFrames: .max, headroomFrames: .max, seconds: .infinity, xruns: .max,
        loadMax: .nan, isStable: false),
      TunePicture.Trial(
        periodFrames: .min, headroomFrames: 0, seconds: .nan, xruns: .min, loadMax: 1e300,
        isStable: true),
    ]
    for text in [picture.svg(), picture.html()] {
      #expect(isBalanced(text))
      #expect(!hasNonNumber(text))
    }
  }
}

extension LatencyPicture {
  fileprivate static var empty: LatencyPicture {
    LatencyPicture(
      title: "", subtitle: "", sampleRate: 0, roundTripFrames: 0, standardDeviationFrames: 0,
      impulseResponse: SampledCurve(), correlation: SampledCurve(stepFrames: 0), arrivals: [],
      measurements: [], bufferFrames: 0, claimedFrames: nil)
  }

  fileprivate static var typical: LatencyPicture {
    var impulse = [Float](repeating: 0, count: 2000)
    impulse[293] = 0.7
    impulse[904] = -0.2
    return LatencyPicture(
      title: "hw:USB to hw:USB", subtitle: "48000 Hz, period 64, headroom 64, 3 measurements",
      sampleRate: 48000, roundTripFrames: 293.021, standardDeviationFrames: 0.021,
      impulseResponse: SampledCurve(impulse),
      correlation: SampledCurve(
        (0...256).map { 1 - abs(Float($0) - 128) / 128 }, firstFrame: 285.02, stepFrames: 0.0625),
      arrivals: [293, 904], measurements: [293, 293.021, 293.042], bufferFrames: 128,
      claimedFrames: 256)
  }
}

extension TunePicture {
  fileprivate static var typical: TunePicture {
    let loads = [(64, 0.3), (16, 1.2), (32, 0.6)]
    return TunePicture(
      title: "hw:USB to hw:USB", subtitle: "48000 Hz", sampleRate: 48000,
      trials: loads.map { period, load in
        Trial(
          periodFrames: period, headroomFrames: period, seconds: 10, xruns: load > 1 ? 3 : 0,
          loadMax: load, isStable: load < 1)
      }, chosen: 2, loadLimit: 0.7)
  }
}

/// Returns whether all tags are closed in order, and the quotes in tags are paired.
func isBalanced(_ text: String) -> Bool {
  var open: [Substring] = []
  for piece in text.split(separator: "<").dropFirst(text.hasPrefix("<") ? 0 : 1) {
    guard let tag = piece.split(separator: ">", omittingEmptySubsequences: false).first,
      tag.count < piece.count, tag.count(where: { $0 == "\"" }).isMultiple(of: 2)
    else { return false }
    if tag.hasPrefix("!DOCTYPE") || tag.hasSuffix("/") { continue }
    if tag.hasPrefix("/") {
      guard open.popLast() == tag.dropFirst() else { return false }
    } else {
      open.append(tag.prefix { $0 != " " })
    }
  }
  return open.isEmpty
}

/// Returns whether a word of the text is the output for a number that is not finite.
private func hasNonNumber(_ text: String) -> Bool {
  text.lowercased().split { !$0.isLetter }.contains { ["nan", "inf", "infinity"].contains($0) }
}

extension String {
  fileprivate func occurrences(of part: String) -> Int { pieces(after: part).count }

  /// Returns the text after each occurrence of `part`, up to the next occurrence.
  fileprivate func pieces(after part: String) -> [Substring] {
    Array(split(separator: part, omittingEmptySubsequences: false).dropFirst())
  }
}
