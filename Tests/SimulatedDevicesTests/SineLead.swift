import Glibc

/// Returns the number of frames by which the sine in `heard` is early, in blocks of `block` frames.
/// `place` returns the expected position in the sine, in its own frames, of a frame.
func lead(
  _ heard: [Float], cyclesPerFrame: Double, block: Int, from first: Int,
  place: (Double) -> Double
) -> [Double] {
  stride(from: first, to: heard.count - block, by: block).map { start in
    var (inPhase, quadrature) = (0.0, 0.0)
    for frame in start..<start + block {
      let angle = 2 * .pi * cyclesPerFrame * place(Double(frame))
      inPhase += Double(heard[frame]) * sin(angle)
      quadrature += Double(heard[frame]) * cos(angle)
    }
    return atan2(quadrature, inPhase) / (2 * .pi * cyclesPerFrame)
  }
}
