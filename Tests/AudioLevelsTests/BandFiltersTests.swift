import AudioBasics
import Glibc
import Testing

@testable import AudioLevels

@Suite struct BandFiltersTests {
  @Test(arguments: [0, 1, 7, 8, 9, 64, 67])
  func `filtering eight samples at once leaves the same states as one at a time`(count: Int) {
    let filters = BandFilters(centres: SIMD4(0.0075, 0.027, 0.092, 0.29))
    let coefficients = filters.coefficients
    var samples = SampleBuffer(frameCount: 67, channelCount: 1)
    for index in 0..<67 { samples[index] = Float(sin(0.3 * Double(index) + 1)) }
    var (state, single) = (BandFilters.Pair(), BandFilters.Pair())
    let energy = filters.take(count, of: samples, &state)
    var wanted = SIMD4<Float>(repeating: 0)
    for index in 0..<count {
      let step = coefficients.step(&single, samples[index])
      // In complete groups of eight samples, the energy of the last one counts eight times.
      if index >= count & ~7 {
        wanted += step.energy
      } else if index % 8 == 7 {
        wanted += 8 * step.energy
      }
    }
    for band in 0..<4 {
      #expect(abs(state.band[band] - single.band[band]) < 1e-5)
      #expect(abs(state.low[band] - single.low[band]) < 1e-5)
      #expect(abs(energy[band] - wanted[band]) <= 1e-4 * abs(wanted[band]))
    }
  }

  @Test(arguments: [(0, 0), (5, 5), (7, 6), (6, 7), (64, 64), (9, 0)])
  func `samples and interpolated samples are filtered like one at a time`(count: Int, others: Int) {
    let filters = BandFilters(centres: SIMD4(0.0075, 0.027, 0.092, 0.29))
    var samples = SampleBuffer(frameCount: 64, channelCount: 1)
    var between = SampleBuffer(frameCount: 64, channelCount: 1)
    for index in 0..<64 {
      samples[index] = Float(sin(0.3 * Double(index) + 1))
      between[index] = Float(cos(0.4 * Double(index) + 2))
    }
    var (state, stateBetween, sums) = (BandFilters.Pair(), BandFilters.Pair(), BandFilters.Sums())
    filters.follow(
      count, of: samples, &state, others, between: between, &stateBetween, &sums)
    var (single, singleBetween, wanted) = (
      BandFilters.Pair(), BandFilters.Pair(), BandFilters.Sums()
    )
    for index in 0..<count {
      let step = filters.coefficients.step(&single, samples[index])
      wanted.energy += step.energy
      wanted.products += step.band * wanted.before
      wanted.squares += step.band * step.band
      wanted.before = step.band
    }
    for index in 0..<others {
      wanted.energy += filters.coefficients.step(&singleBetween, between[index]).energy
    }
    for band in 0..<4 {
      #expect(abs(sums.energy[band] - wanted.energy[band]) <= 1e-4 * abs(wanted.energy[band]))
      #expect(abs(sums.products[band] - wanted.products[band]) <= 1e-4)
      #expect(abs(sums.squares[band] - wanted.squares[band]) <= 1e-4)
      #expect(abs(sums.before[band] - wanted.before[band]) <= 1e-5)
      #expect(abs(state.band[band] - single.band[band]) < 1e-5)
      #expect(abs(stateBetween.low[band] - singleBetween.low[band]) < 1e-5)
    }
  }
}
