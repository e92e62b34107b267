import AudioBasics
import CPlainVectors
import CVectors
import Testing

/// Tests that every loop, for any number of samples, gives the results of its definition, with
/// identical bits on processors with and without AVX2.
@Suite struct VectorLoopTests {
  private static let counts = Array(0...67) + [128, 1000]

  /// Returns samples up to ±1.5; with `hasNonFinite` some of them are not a number (NaN) or
  /// infinite.
  private func samples(_ count: Int, seed: UInt64, hasNonFinite: Bool = false) -> [Float] {
    var chance = SplitMix64(seed: seed)
    return (0..<count).map { index in
      let sample = Float.random(in: -1.5...1.5, using: &chance)
      guard hasNonFinite, index % 5 == 3 else { return sample }
      return [Float.nan, .infinity, -.infinity][Int(chance.next() % 3)]
    }
  }

  private func isSame(_ left: [Float], _ right: [Float]) -> Bool {
    left.map(\.bitPattern) == right.map(\.bitPattern)
  }

  @Test(arguments: counts, [false, true])
  func `the highest magnitude is found, and NaN is ignored`(
    count: Int, hasNonFinite: Bool
  ) {
    let samples = samples(count, seed: 1, hasNonFinite: hasNonFinite)
    let wanted = samples.filter { !$0.isNaN }.map { abs($0) }.max() ?? 0
    #expect(vectors_peak(samples, count) == wanted)
    #expect(plain_peak(samples, count) == wanted)
  }

  @Test(arguments: counts)
  func `the highest magnitude is NaN where a sample is`(count: Int) {
    var samples = samples(count, seed: 5)
    let wanted = samples.map { abs($0) }.max() ?? 0
    #expect(vectors_peak_or_nan(samples, count) == wanted)
    #expect(plain_peak_or_nan(samples, count) == wanted)
    for index in Set([0, 1, count / 2, count - 2, count - 1]).intersection(samples.indices) {
      let sample = samples[index]
      for (odd, answer) in [(-Float.infinity, Float.infinity), (.nan, .nan), (-.nan, .nan)] {
        samples[index] = odd
        let found = [vectors_peak_or_nan(samples, count), plain_peak_or_nan(samples, count)]
        #expect(found.allSatisfy { answer.isNaN ? $0.isNaN : $0 == answer })
      }
      samples[index] = sample
    }
  }

  @Test(arguments: counts)
  func `exactly the requested samples are multiplied, added and copied`(count: Int) {
    let (start, other) = (samples(count + 1, seed: 2), samples(count + 1, seed: 3))
    var (scaled, plain) = (start, start)
    vectors_scale(&scaled, 0.3, count)
    plain_scale(&plain, 0.3, count)
    let wanted = start.prefix(count).map { $0 * 0.3 } + [start[count]]
    #expect(isSame(scaled, wanted) && isSame(plain, wanted))

    (scaled, plain) = (start, start)
    vectors_add(&scaled, other, count)
    plain_add(&plain, other, count)
    let sum = zip(start, other).prefix(count).map { $0 + $1 } + [start[count]]
    #expect(isSame(scaled, sum) && isSame(plain, sum))

    (scaled, plain) = (start, start)
    vectors_copy(&scaled, other, count)
    let copy = other.prefix(count) + [start[count]]
    #expect(isSame(scaled, Array(copy)))
  }

  /// Returns `sample` times `fullScale` as an integer, clamped to the range; 0 for NaN.
  private func whole(_ sample: Float, _ fullScale: Float, highest: Float) -> Int32 {
    guard !sample.isNaN else { return 0 }
    let scaled = max(-fullScale, min(highest, sample * fullScale))
    return Int32(exactly: scaled.rounded(.toNearestOrEven)) ?? 0
  }

  @Test(arguments: counts, [false, true])
  func `samples are converted to integers of 16 and 32 bits`(count: Int, hasNonFinite: Bool) {
    let samples = samples(count, seed: 4, hasNonFinite: hasNonFinite)
    let lost = samples.filter(\.isNaN).count
    var (short, plainShort) = (
      [Int16](repeating: 7, count: count + 1), [Int16](repeating: 7, count: count + 1)
    )
    #expect(vectors_encode16(&short, samples, count) == lost)
    #expect(plain_encode16(&plainShort, samples, count) == lost)
    let wantedShort = samples.map { Int16(whole($0, 32768, highest: 32767)) } + [7]
    #expect(short == wantedShort && plainShort == wantedShort)

    var (long, plainLong) = (
      [Int32](repeating: 7, count: count + 1), [Int32](repeating: 7, count: count + 1)
    )
    #expect(vectors_encode32(&long, samples, count) == lost)
    #expect(plain_encode32(&plainLong, samples, count) == lost)
    let wantedLong = samples.map { whole($0, 0x1p31, highest: 2_147_483_520) } + [7]
    #expect(long == wantedLong && plainLong == wantedLong)
  }

  @Test(arguments: counts)
  func `integers of 16 bits are converted to samples`(count: Int) {
    var chance = SplitMix64(seed: 5)
    let whole = (0..<count).map { _ in Int16.random(in: .min ... .max, using: &chance) }
    var (decoded, plain) = (
      [Float](repeating: 7, count: count + 1), [Float](repeating: 7, count: count + 1)
    )
    vectors_decode16(&decoded, whole, count)
    plain_decode16(&plain, whole, count)
    let wanted = whole.map { Float($0) / 32768 } + [7]
    #expect(isSame(decoded, wanted) && isSame(plain, wanted))
    let peak = whole.map { abs(Float($0)) / 32768 }.max() ?? 0
    (decoded, plain) = (
      [Float](repeating: 7, count: count + 1), [Float](repeating: 7, count: count + 1)
    )
    #expect(vectors_decode16_and_measure(&decoded, whole, count) == peak)
    #expect(plain_decode16_and_measure(&plain, whole, count) == peak)
    #expect(isSame(decoded, wanted) && isSame(plain, wanted))
  }

  @Test(arguments: 1...2, [0, 8, 16, 64])
  func `the channels of every other frame are summed`(channels: Int, count: Int) {
    var samples = samples(4 * 64, seed: 6)
    let end = 2 * channels * count
    if count > 0 { (samples[end - 1], samples[0]) = (-9, .nan) }
    let wanted = (0..<count).map { frame in
      (0..<channels).reduce(0) { $0 + samples[2 * channels * frame + $1] }
    }
    var (sums, plain) = ([Float](repeating: 7, count: 65), [Float](repeating: 7, count: 65))
    let peak = vectors_sum_and_measure(&sums, samples, channels, count)
    #expect(peak == (count > 0 ? 9 : 0))
    #expect(plain_sum_and_measure(&plain, samples, channels, count) == peak)
    #expect(isSame(Array(sums.prefix(count + 1)), wanted + [7]))
    #expect(isSame(Array(plain.prefix(count + 1)), wanted + [7]))
    (sums, plain) = ([Float](repeating: 7, count: 65), [Float](repeating: 7, count: 65))
    vectors_sum_every_other(&sums, samples, channels, count)
    plain_sum_every_other(&plain, samples, channels, count)
    #expect(isSame(Array(sums.prefix(count + 1)), wanted + [7]))
    #expect(isSame(Array(plain.prefix(count + 1)), wanted + [7]))
    let wantedBetween = (0..<count).map { frame in
      (0..<channels).reduce(0) { $0 + samples[(2 * frame + 1) * channels + $1] }
    }
    var between = [Float](repeating: 7, count: 65)
    vectors_sum_alternately(&sums, &between, samples, channels, count)
    #expect(isSame(Array(between.prefix(count + 1)), wantedBetween + [7]))
    plain_sum_alternately(&plain, &between, samples, channels, count)
    #expect(isSame(Array(between.prefix(count + 1)), wantedBetween + [7]))
    #expect(isSame(Array(sums.prefix(count + 1)), wanted + [7]))
    #expect(isSame(Array(plain.prefix(count + 1)), wanted + [7]))
  }

  @Test func `filters have identical states and energies with and without AVX2`() {
    var chance = SplitMix64(seed: 7)
    func four() -> SIMD4<Float> { .random(in: -0.5...0.5, using: &chance) }
    func pair() -> BandPair { BandPair(band: four(), low: four()) }
    var weights = BandFilterWeights()
    (weights.of_same, weights.of_other) = (pair(), pair())
    weights.of_sample = (pair(), pair(), pair(), pair(), pair(), pair(), pair())
    (weights.a1, weights.a2, weights.g, weights.damping) = (four(), four(), four(), four())
    let samples = samples(800, seed: 8)
    var (state, plainState) = (pair(), BandPair())
    plainState = state
    var (energy, plainEnergy) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0))
    for count in 0...100 {
      vectors_filter_bands(&weights, &state, &energy, samples, count)
      plain_filter_bands(&weights, &plainState, &plainEnergy, samples, count)
      #expect(state.band == plainState.band && state.low == plainState.low)
      #expect(energy == plainEnergy && energy != SIMD4(repeating: 0) || count == 0)
      (state, plainState) = (BandPair(band: four(), low: four()), state)
      plainState = state
    }
  }

  @Test(arguments: [8, 16, 48, 96, 104])
  func `weights are interpolated and applied to samples, the middle ones with 53 bits`(count: Int) {
    let (stride, middle) = (count + 8, count / 2 - 4)
    let rows = samples(4 * stride, seed: 9)
    let factors = [-0.06, 0.56, 0.57, -0.07]
    var (row, plain) = (
      [Float](repeating: 7, count: stride + 1), [Float](repeating: 7, count: stride + 1)
    )
    vectors_mix_weights(
      &row, rows, stride, count, factors[0], factors[1], factors[2], factors[3])
    plain_mix_weights(
      &plain, rows, stride, count, factors[0], factors[1], factors[2], factors[3])
    #expect(isSame(row, plain) && row[stride] == 7)
    func mixed(_ place: Int) -> Double {
      (0..<4).reduce(0) { $0 + factors[$1] * Double(rows[$1 * stride + place]) }
    }
    for index in 0..<count where !(middle..<middle + 8).contains(index) {
      #expect(abs(Double(row[index]) - mixed(index)) < 1e-6)
    }
    for index in 0..<8 {
      #expect(abs(Double(row[count + index]) - mixed(count + index)) < 1e-6)
      // The rounding error of the middle weights is added to the rows' own values at these
      // positions.
      let rest = mixed(count + index) - Double(row[count + index])
      #expect(abs(Double(row[middle + index]) - mixed(middle + index) - rest) < 1e-6)
    }

    let (left, right) = (samples(count, seed: 10), samples(count, seed: 11))
    func product(_ sound: [Float]) -> Double {
      let outer = (0..<count).reduce(0) { $0 + Double(row[$1]) * Double(sound[$1]) }
      return (0..<8).reduce(outer) { $0 + Double(row[count + $1]) * Double(sound[middle + $1]) }
    }
    var (sums, plainSums): ((Float, Float), (Float, Float)) = ((0, 0), (0, 0))
    vectors_inner_products(row, left, right, count, &sums.0, &sums.1)
    plain_inner_products(row, left, right, count, &plainSums.0, &plainSums.1)
    #expect(sums == plainSums)
    #expect(sums.0 == vectors_inner_product(row, left, count))
    #expect(sums.1 == plain_inner_product(row, right, count))
    #expect(
      abs(Double(sums.0) - product(left)) < 1e-5 && abs(Double(sums.1) - product(right)) < 1e-5)
  }
}
