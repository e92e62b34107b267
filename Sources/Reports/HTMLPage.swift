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
    \(colours(\.onLight))}
    main{max-width:960px;margin:0 auto}
    svg{display:block;max-width:100%;height:auto}
    .figures{margin:16px 24px;overflow-x:auto}
    table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
    th,td{padding:6px 12px;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}
    th:first-child{text-align:left}
    th{font-weight:600}
    @media (prefers-color-scheme:dark){body{\(colours(\.onDark))}}
    """
  }

  private static func colours(_ colour: (Paint) -> String) -> String {
    "background:\(colour(.page));color:\(colour(.ink))"
  }
}
