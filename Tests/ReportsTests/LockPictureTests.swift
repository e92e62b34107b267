import Reports
import Testing

@Suite struct LockPictureTests {
  private func picture(_ errors: [Double]) -> LockPicture {
    LockPicture(
      title: "A step of 100 ppm", subtitle: "48 kHz", lockSeconds: 15,
      moments: errors.enumerated().map { (Double($0.offset), $0.element, 2 * $0.element) })
  }

  @Test func `the headline shows the error that remains after the time to lock`() {
    let svg = picture((0..<30).map { $0 < 15 ? 100 : 0.25 }).svg()
    #expect(isBalanced(svg) && svg.contains("0.5 ppm") && svg.contains("0.25 frames"))
  }

  @Test func `a picture without finite values is valid and states that nothing was measured`() {
    for errors in [[], [.nan, .infinity, -.infinity]] as [[Double]] {
      let svg = picture(errors).svg()
      #expect(isBalanced(svg) && svg.contains("nothing measured") && !svg.contains("nan"))
    }
  }
}
