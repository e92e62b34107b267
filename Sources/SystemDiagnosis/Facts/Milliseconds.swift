/// A short time, for sentences: `21.33 ms`.
struct Milliseconds: CustomStringConvertible {
  let value: Double

  init(_ value: Double) { self.value = value }

  var description: String {
    let text = "\((value * 100).rounded() / 100)"
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " ms"
  }
}
