/// The colours of the pictures by what they stand for, each on light and on dark ground.
enum Paint: String, CaseIterable {
  case page, card, border, grid, ink, muted
  /// What was measured, and the unit's own buffers.
  case signal
  /// What lies outside the unit: driver, converters, wire.
  case external
  /// What points at something: arrivals, the peak, the mean.
  case mark
  case stable, refused
  /// Behind the row that was chosen.
  case highlight

  var onLight: String {
    switch self {
    case .page: "#f5f6f8"
    case .card: "#ffffff"
    case .border: "#dde1e7"
    case .grid: "#eaedf1"
    case .ink: "#1b2027"
    case .muted: "#5b6573"
    case .signal: "#2a6fdb"
    case .external: "#e3a008"
    case .mark: "#c2205f"
    case .stable: "#1f8a55"
    case .refused: "#c5402f"
    case .highlight: "#e6f0ff"
    }
  }

  var onDark: String {
    switch self {
    case .page: "#101317"
    case .card: "#191d23"
    case .border: "#2e343d"
    case .grid: "#272d35"
    case .ink: "#e9ecf0"
    case .muted: "#9da7b5"
    case .signal: "#6aa5ff"
    case .external: "#f0bc4c"
    case .mark: "#ff7fae"
    case .stable: "#4cc38a"
    case .refused: "#ff8577"
    case .highlight: "#1d2d47"
    }
  }
}

extension Paint {
  /// The style sheet of a picture, which gives `fill-` and `stroke-` classes their colours.
  ///
  /// Every rule is bound to the picture, for a style inside an inline SVG reaches the whole page.
  static var styleSheet: String {
    """
    .report{color-scheme:light dark;font-variant-numeric:tabular-nums;\
    font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif}
    .report .curve{fill:none;stroke-linejoin:round;stroke-linecap:round}
    .report .dashed{stroke-dasharray:4 3}
    .report .halo{stroke-width:4;stroke-linejoin:round;paint-order:stroke}
    \(rules(\.onLight))
    @media (prefers-color-scheme:dark){
    \(rules(\.onDark))
    }
    """
  }

  private static func rules(_ colour: (Paint) -> String) -> String {
    allCases.map { paint in
      ".report .fill-\(paint.rawValue){fill:\(colour(paint))}"
        + ".report .stroke-\(paint.rawValue){stroke:\(colour(paint))}"
    }.joined(separator: "\n")
  }
}
