/// A complete page that needs no other file: a picture, and its figures as a table.
struct HTMLPage: Sendable {
  let title: String
  let picture: String
  let columns: [String]
  /// The first cell of each row names it.
  let rows: [[String]]

  var text: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8"/>
    <meta name="viewport" content="width=device-width, initial-scale=1"/>
    <meta name="color-scheme" content="light dark"/>
    <title>\(Markup.escaped(title))</title>
    <style>
    \(Self.styleSheet)
    </style>
    </head>
    <body>
    <main>
    \(picture)\(table)
    </main>
    </body>
    </html>

    """
  }

  private var table: String {
    let head = columns.map { Self.cell("th", scope: "col", $0) }.joined()
    let body = rows.map { row in
      "<tr>" + row.prefix(1).map { Self.cell("th", scope: "row", $0) }.joined()
        + row.dropFirst().map { Self.cell("td", $0) }.joined() + "</tr>"
    }
    return """
      <div class="figures"><table>
      <thead><tr>\(head)</tr></thead>
      <tbody>
      \(body.joined(separator: "\n"))
      </tbody>
      </table></div>
      """
  }

  private static func cell(_ name: String, scope: String? = nil, _ text: String) -> String {
    let content = Markup.escaped(text)
    guard let scope else { return Markup.element(name, content: content) }
    return Markup.element(name, ["scope": scope], content: content)
  }

  private static var styleSheet: String {
    """
    :root{color-scheme:light dark}
    body{margin:0;padding:24px 16px;font:14px/1.5 system-ui,sans-serif;\
    \(colours(\.colours.light))}
    main{max-width:960px;margin:0 auto}
    svg{display:block;max-width:100%;height:auto}
    .figures{margin:16px 24px;overflow-x:auto}
    table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
    th,td{padding:6px 12px;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}
    th:first-child{text-align:left}
    th{font-weight:600}
    @media (prefers-color-scheme:dark){body{\(colours(\.colours.dark))}}
    """
  }

  private static func colours(_ colour: (Paint) -> String) -> String {
    "background:\(colour(.page));color:\(colour(.ink))"
  }
}

/// Text as XML and HTML take it.
enum Markup {
  /// `text` with the characters that mean markup replaced, for content and quoted attributes.
  ///
  /// Control characters, which XML forbids however they are written, become U+FFFD.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where isForbidden(scalar): result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// An element with its attributes, in their order; `content` is markup already; nil for none.
  static func element(
    _ name: String, _ attributes: some Sequence<(key: String, value: String)> = EmptyCollection(),
    content: String? = nil
  ) -> String {
    var tag = "<" + name
    for (key, value) in attributes { tag += " \(key)=\"\(escaped(value))\"" }
    guard let content else { return tag + "/>" }
    return tag + ">\(content)</\(name)>"
  }

  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D: false
    case 0..<0x20, 0x7F...0x9F, 0xFFFE, 0xFFFF: true
    default: false
    }
  }
}

/// What stands above the panels: what was measured, how, and the result in one figure.
struct PageHeader: Sendable {
  let title: String
  let subtitle: String
  let headline: String
  let detail: String

  static let height = 84.0

  func draw(in area: Rectangle, on canvas: inout SVGCanvas) {
    let headlineWidth = max(
      TextStyle.headline.width(of: headline), TextStyle.subtitle.width(of: detail))
    let width = area.width - headlineWidth - 30
    let style = TextStyle.title.shrunk(toFit: title, width: width, smallest: 13)
    canvas.text(title, at: Point(x: area.left, y: area.top + 36), style, width: width)
    canvas.text(
      subtitle, at: Point(x: area.left, y: area.top + 60), .subtitle, width: width)
    canvas.text(headline, at: Point(x: area.right, y: area.top + 38), .headline, anchor: .end)
    canvas.text(detail, at: Point(x: area.right, y: area.top + 60), .subtitle, anchor: .end)
  }
}
