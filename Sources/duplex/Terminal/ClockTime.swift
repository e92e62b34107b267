/// A time as clocks show it: `3:12`, `1:03:12`.
struct ClockTime {
  let text: String

  /// `seconds`, with tenths where `showsTenths`.
  init(_ seconds: Double, showsTenths: Bool = false) {
    let tenths = Int(clamping: max(0, seconds) * 10)
    let whole = tenths / 10
    func padded(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    let minutes = whole / 60 % 60
    var text = whole >= 3600 ? "\(whole / 3600):\(padded(minutes))" : "\(minutes)"
    text += ":" + padded(whole % 60)
    if showsTenths { text += ".\(tenths % 10)" }
    self.text = text
  }
}
