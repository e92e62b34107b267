extension Int {
  /// Returns the number with a noun in singular or plural: "1 frame", "2 frames".
  package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
