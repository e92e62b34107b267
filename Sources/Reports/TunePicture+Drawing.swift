extension TunePicture {
  /// The picture as an SVG document, 960 pixels wide, light or dark as the viewer prefers.
  public func svg() -> String {
    var canvas = SVGCanvas()
    let chart = TrialChart.height(trials: trials.count)
    let page = Rectangle(left: 0, top: 0, width: 960, height: PageHeader.height + chart + 24)
    let area = page.inset(left: 24, right: 24, bottom: 24)
    header.draw(in: area, on: &canvas)
    TrialChart(
      trials: trials, chosen: chosen, loadLimit: loadLimit, rate: rate,
      frame: area.inset(top: PageHeader.height)
    ).draw(on: &canvas)
    return canvas.document(title: title, width: page.width, height: page.height)
  }

  /// A complete HTML page, with the picture inside and its figures as a table.
  public func html() -> String {
    HTMLPage(
      title: title, picture: svg(),
      columns: [
        "Trial", "Period", "Headroom", "Latency", "Highest load", "Xruns", "Time", "Verdict",
      ], rows: rows
    ).text
  }

  private var rate: FrameRate { FrameRate(sampleRate) }

  private var header: PageHeader {
    guard let chosen, trials.indices.contains(chosen) else {
      let verdict = trials.isEmpty ? "nothing measured" : "none chosen"
      return PageHeader(title: title, subtitle: subtitle, headline: verdict, detail: "")
    }
    let trial = trials[chosen]
    let text = TrialText(trial: trial, rate: rate)
    return PageHeader(
      title: title, subtitle: subtitle, headline: rate.milliseconds(trial.latencyFrames),
      detail: "period \(trial.periodFrames), headroom \(trial.headroomFrames), load \(text.load)")
  }

  private var rows: [[String]] {
    trials.enumerated().map { index, trial in
      let text = TrialText(trial: trial, rate: rate)
      return [
        "\(index + 1)", "\(trial.periodFrames)", "\(trial.headroomFrames)", text.latency,
        text.load, "\(trial.xruns)", text.seconds,
        text.verdict + (index == chosen ? ", chosen" : ""),
      ]
    }
  }
}
