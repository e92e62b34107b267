import Reports
import Testing

@Suite struct LockPictureTests {
  private func picture(_ errors: [Double]) -> LockPicture {
    LockPicture(
      title: "A step of 100 ppm", subtitle: "48 kHz", lockSeconds: 15,
      moments: errors.enumerated().map { (Double($0.offset), $0.element, 2 * $0.element) })
  }

  @Test func `what is left after the time to lock is its headline`() {
    let svg = picture((0..<30).map { $0 < 15 ? 100 : 0.25 }).svg()
    #expect(isBalanced(svg) && svg.contains("0.5 ppm") && svg.contains("0.25 frames"))
  }

  @Test func `no moments, and moments that are no numbers, are still a picture`() {
    for errors in [[], [.nan, .infinity, -.infinity]] as [[Double]] {
      let svg = picture(errors).svg()
      #expect(isBalanced(svg) && svg.contains("nothing measured") && !svg.contains("nan"))
    }
  }
}
