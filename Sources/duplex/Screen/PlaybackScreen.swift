/// What a person watches while files play.
struct PlaybackState {
  /// What is heard: "Playing song.flac".
  var title: String
  /// On which device, at what rate.
  var device = ""
  /// Where it is, of how much, and what is not as usual.
  var place: String
  /// The part of the source that lies before that place; nil where its length is not known.
  var fraction: Double?
  var xruns = 0
  /// The keys, each with its word.
  var keys: [String]
}

extension LiveScreen {
  /// What to draw: a panel where there are rows for it, else the place alone.
  func lines(_ state: PlaybackState) -> [String] {
    let xruns = state.xruns == 0 ? "" : "  \(state.xruns) xrun\(state.xruns == 1 ? "" : "s")"
    let place = state.place + xruns
    var panel = [state.title, state.device, place]
    if let fraction = state.fraction { panel.append(progress(fraction)) }
    panel += TextLines("Keys: " + state.keys.joined(separator: ", "), width: max(1, columns - 1))
    // A sentence needs room above it.
    return (panel.count + 4 <= rows ? panel : [place]).map { fitting($0) }
  }

  /// A bar over the whole width, full to that part of it.
  private func progress(_ fraction: Double) -> String {
    let cells = max(1, columns - 1)
    let full = max(0, min(cells, Int(clamping: fraction * Double(cells))))
    return String(repeating: hasUnicode ? "█" : "#", count: full)
      + String(repeating: hasUnicode ? "·" : ".", count: cells - full)
  }
}
