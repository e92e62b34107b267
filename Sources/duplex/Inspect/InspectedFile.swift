import AudioBasics
import AudioFiles
import AudioLevels
import SoundInspection

/// The results of the inspection of a file, as fields of events and as lines of text.
struct InspectedFile {
  let frames: Int
  private let path: String
  private let sampleRate: Int
  private let channelCount: Int
  private let formatName: String
  private let bitRate: Int?
  private let tags: SoundFileTags
  private let levels: ProgrammeLevels
  private let silence: SilentFrames
  private let gaps: [(frame: Int, frames: Int)]
  private let markers: [SoundFileMarker]
  private let pictures: [String]

  init(
    _ path: String, _ decoder: any SoundDecoder, _ inspection: SoundInspection,
    _ pictures: [String]
  ) {
    self.path = path
    self.pictures = pictures
    frames = inspection.frames
    levels = inspection.levels
    silence = inspection.silence
    sampleRate = decoder.sampleRate
    channelCount = decoder.channelCount
    formatName = decoder.formatName
    bitRate = decoder.bitRate
    tags = decoder.tags
    let all = decoder.markers
    gaps = all.compactMap { marker in
      marker.gapFrames.map { (marker.frame, $0) }
    }
    markers = all.filter { $0.gapFrames == nil }
  }

  var seconds: Double { seconds(frames) }

  private func seconds(_ frames: Int) -> Double { Double(frames) / Double(max(1, sampleRate)) }

  // MARK: Events

  var fields: Fields {
    [
      "path": path, "format": formatName, "frames": frames, "seconds": seconds,
      "sampleRate": sampleRate, "channels": channelCount, "bitRate": bitRate,
      "tags": Fields(named.map { ($0.key, $0.value.json) }),
    ] + levels.fields + [
      "silence": [
        "leadSeconds": seconds(silence.lead), "tailSeconds": seconds(silence.tail),
        "totalSeconds": seconds(silence.total),
      ] as Fields,
      "gaps": gaps.map { Fields.gap($0.frame, $0.frames) },
      "markers": markers.map { ["frame": $0.frame, "label": $0.label] as Fields },
      "pictures": pictures,
    ]
  }

  private var named: [(key: String, value: String)] {
    [
      ("title", tags.title), ("artist", tags.artist), ("album", tags.album), ("date", tags.date),
      ("comment", tags.comment),
    ].compactMap { key, value in value.flatMap { $0.isEmpty ? nil : (key, $0) } }
  }

  // MARK: Lines

  /// The line for a file in the list of a folder: length, peak, loudness, name and title.
  var note: String {
    let peak = levels.peakDBFS.max().map { $0.shownLevel } ?? ""
    let loudness = levels.integratedLUFS.map { $0.shownLevel } ?? "-"
    let title = tags.title.map { "  \($0)" } ?? ""
    return ClockTime(seconds, showsTenths: true).text.aligned(to: 10) + peak.aligned(to: 7)
      + " dBFS" + loudness.aligned(to: 7) + " LUFS  " + path + title
  }

  var lines: [String] {
    let length = ClockTime(seconds, showsTenths: true).text
    var facts = ["\(length) (\(frames.counted("frame")))", "\(sampleRate) Hz"]
    facts.append(channelCount.counted("channel"))
    if !formatName.isEmpty { facts.append(formatName) }
    if let bitRate { facts.append("\(bitRate / 1000) kbit/s") }
    var rows = [("Sound", facts.joined(separator: ", "))]
    rows += named.map { (Self.capitalised($0.key), $0.value) }
    rows.append(
      ("Peak", list(levels.samplePeaks) + " dBFS, true peak " + list(levels.truePeaks) + " dBTP"))
    rows.append(("RMS", list(levels.meanSquares.map { Float($0.squareRoot()) }) + " dBFS"))
    rows.append(("Loudness", loudness))
    rows.append(("Clipped", clipped))
    rows.append(("DC offset", levels.offsets.map { $0.shown(5) }.joined(separator: ", ")))
    rows.append(("Silence", pauses))
    rows.append(("Gaps", gapList))
    if !markers.isEmpty {
      rows.append(("Markers", places(markers.map { ($0.frame, $0.label) })))
    }
    rows += pictures.map { ("Picture", $0) }
    let width = Terminal.width
    return [path]
      + rows.flatMap { name, text in
        Array(
          TextLines(
            text, width: width, first: "  " + name.padded(to: 11), next: "".padded(to: 13)))
      }
  }

  private var loudness: String {
    guard let integrated = levels.integratedLUFS else { return "too quiet or too short to measure" }
    var parts = ["\(integrated.shown(1)) LUFS"]
    if let range = levels.loudnessRangeLU { parts.append("range \(range.shown(1)) LU") }
    if let momentary = levels.maximumMomentaryLUFS {
      parts.append("at most \(momentary.shown(1)) LUFS momentary")
    }
    if let short = levels.maximumShortTermLUFS { parts.append("\(short.shown(1)) LUFS short-term") }
    return parts.joined(separator: ", ")
  }

  private var clipped: String {
    let counts = levels.clippedSamples
    guard counts.contains(where: { $0 > 0 }) else { return "no samples" }
    return counts.map(String.init).joined(separator: ", ") + " samples"
  }

  private var pauses: String {
    guard silence.total > 0 else { return "none" }
    if silence.total >= frames { return "all of it is below -60 dBFS" }
    return "\(seconds(silence.lead).shown(2)) s before the first sound, "
      + "\(seconds(silence.tail).shown(2)) s after the last, \(seconds(silence.total).shown(2)) s in total"
  }

  private var gapList: String {
    guard !gaps.isEmpty else { return "none marked" }
    let lost = gaps.reduce(0) { $0 + $1.frames }
    return "\(lost.counted("frame")) lost in \(gaps.count.counted("gap")): "
      + places(gaps.map { ($0.frame, $0.frames.counted("frame")) })
  }

  private func places(_ places: [(frame: Int, what: String)]) -> String {
    let shown = places.prefix(6).map { place in
      "\(place.what) at \(ClockTime(seconds(place.frame), showsTenths: true).text)"
    }.joined(separator: ", ")
    return places.count > 6 ? "\(shown) and \(places.count - 6) more" : shown
  }

  private func list(_ amplitudes: [Float]) -> String {
    let shown = amplitudes.prefix(8).map { Decibels.level($0).shownLevel }
    return shown.joined(separator: ", ") + (amplitudes.count > 8 ? " ..." : "")
  }

  private static func capitalised(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }
}
