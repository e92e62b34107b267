import CairoDrawing

/// The colour map Inferno of Matplotlib (van der Walt and Smith, public domain) as polynomials of the
/// sixth degree (Zucker, public domain): equal steps look equal, and lightness alone tells the order,
/// for eyes that see no colours too.
struct ColourScale {
  private static let red = [
    0.0002189403691192265, 0.1065134194856116, 11.60249308247187, -41.70399613139459,
    77.162935699427, -71.31942824499214, 25.13112622477341,
  ]
  private static let green = [
    0.001651004631001012, 0.5639564367884091, -3.972853965665698, 17.43639888205313,
    -33.40235894210092, 32.62606426397723, -12.24266895238567,
  ]
  private static let blue = [
    -0.01948089843709184, 3.932712388889277, -15.9423941062914, 44.35414519872813,
    -81.80730925738993, 73.20951985803202, -23.07032500287172,
  ]

  /// The colours from the lowest value to the highest, as pixels.
  let pixels: [UInt32]

  init() {
    pixels = (0..<256).map { step in
      let share = Double(step) / 255
      func part(_ factors: [Double]) -> UInt32 {
        let value = factors.reversed().reduce(0) { $0 * share + $1 }
        return UInt32(clamping: Int(rounding: min(max(value, 0), 1) * 255))
      }
      return part(Self.red) << 16 | part(Self.green) << 8 | part(Self.blue)
    }
  }
}
