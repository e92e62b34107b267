import Testing

/// Expects that a process wrote that it ended with the fatal error `sentence`.
package func expectFatalError(
  _ sentence: String, _ result: ExitTest.Result?,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  #expect(text.contains("Fatal error: " + sentence), "\(text)", sourceLocation: sourceLocation)
}
