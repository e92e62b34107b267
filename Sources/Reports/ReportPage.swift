/// A report: a header above panels and, as an HTML page, a table of figures below.
struct ReportPage {
  /// The measured object.
  let title: String
  /// The conditions of the measurement.
  let subtitle: String
  /// The result in one figure.
  let headline: String
  let detail: String

  /// Returns the header, and the panels that `draw` draws in the `height` pixels below.
  func svg(height: Double, draw: (inout SVGDrawing, _ area: Rectangle) -> Void) -> String {
    let header = 84.0
    let size = Rectangle(left: 0, top: 0, width: 960, height: header + height + 24)
    let area = size.inset(left: 24, right: 24, bottom: 24)
    var drawing = SVGDrawing()
    let room =
      area.width - 30
      - max(TextStyle.headline.width(of: headline), TextStyle.subtitle.width(of: detail))
    var style = TextStyle.title
    while style.size > 13, style.width(of: title) > room { style.size -= 1 }
    drawing.text(title, at: (area.left, 36), style, width: room)
    drawing.text(subtitle, at: (area.left, 60), .subtitle, width: room)
    drawing.text(headline, at: (area.right, 38), .headline, anchor: .end)
    drawing.text(detail, at: (area.right, 60), .subtitle, anchor: .end)
    draw(&drawing, area.inset(top: header))
    return drawing.document(title: title, size: size)
  }

  /// Returns a complete page that needs no other file: the picture, and a table whose rows begin
  /// with names.
  static func html(
    title: String, picture: String, columns: [String], rows: [[String]]
  ) -> String {
    func cells(_ tag: String, _ texts: some Sequence<String>) -> String {
      texts.map { "<\(tag)>\($0.escapedAsMarkup)</\(tag.prefix(2))>" }.joined()
    }
    let body = rows.map {
      "<tr>" + cells("th scope=\"row\"", $0.prefix(1)) + cells("td", $0.dropFirst()) + "</tr>"
    }
    func colours(_ colour: (Paint) -> String) -> String {
      "background:\(colour(.page));color:\(colour(.ink))"
    }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta name="color-scheme" content="light dark"/>
      <title>\(title.escapedAsMarkup)</title>
      <style>
      :root{color-scheme:light dark}
      body{margin:0;padding:24px 16px;font:14px/1.5 system-ui,sans-serif;\(colours(\.colours.light))}
      main{max-width:960px;margin:0 auto}
      svg{display:block;max-width:100%;height:auto}
      .figures{margin:16px 24px;overflow-x:auto}
      table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
      th,td{padding:6px 12px;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}
      th:first-child{text-align:left}
      th{font-weight:600}
      @media (prefers-color-scheme:dark){body{\(colours(\.colours.dark))}}
      </style>
      </head>
      <body>
      <main>
      \(picture)<div class="figures"><table>
      <thead><tr>\(cells("th scope=\"col\"", columns))</tr></thead>
      <tbody>
      \(body.joined(separator: "\n"))
      </tbody>
      </table></div>
      </main>
      </body>
      </html>

      """
  }
}
