import AudioBasics
import CPlainVectors
import CVectors
import Testing

/// Tests that the loops of levels and limiters give the results of their definitions, with
/// identical bits on processors with and without AVX2.
@Suite struct LevelLoopTests {
  private static let counts = Array(0...35) + [64, 79, 1000]

  private func samples(_ count: Int, seed: UInt64) -> [Float] {
    var chance = SplitMix64(seed: seed)
    return (0..<count).map { _ in Float.random(in: -1.5...1.5, using: &chance) }
  }

  private func isSame(_ left: [Float], _ right: [Float]) -> Bool {
    left.map(\.bitPattern) == right.map(\.bitPattern)
  }

  @Test(arguments: counts)
  func `the peak of every fourth sample is found`(count: Int) {
    var samples = samples(count, seed: 1)
    if count > 9 { samples[7] = .nan }
    let wanted = SIMD4<Float>(
      (0..<4).map { lane in
        stride(from: lane, to: count, by: 4).map { abs(samples[$0]) }.filter { !$0.isNaN }.max()
          ?? 0
      })
    #expect(vectors_peaks_of_four(samples, count) == wanted)
    #expect(plain_peaks_of_four(samples, count) == wanted)
  }

  @Test(arguments: counts, 1...3)
  func `the highest second difference of every fourth sample is found`(count: Int, stride: Int) {
    let samples = samples(count + 2 * stride, seed: 2)
    let wanted = SIMD4<Float>(
      (0..<4).map { lane in
        Swift.stride(from: lane + stride, to: count + stride, by: 4).map { index in
          abs((samples[index - stride] + samples[index + stride]) - 2 * samples[index])
        }.max() ?? 0
      })
    samples.withUnsafeBufferPointer { samples in
      guard let middle = samples.baseAddress.map({ $0 + stride }) else { return }
      #expect(vectors_second_differences(middle, stride, count) == wanted)
      #expect(plain_second_differences(middle, stride, count) == wanted)
    }
  }

  @Test(arguments: counts, 1...9)
  func `levels are updated channel by channel`(frames: Int, channels: Int) {
    var samples = samples(frames * channels, seed: 7)
    if frames > 5 { samples[5] = .nan }
    // The first channel was louder before, and no value behind the levels may change.
    let before = [5] + [Float](repeating: 0.25, count: 2 * channels - 1)
    var (levels, plain) = (before + [7], before + [7])
    let highest = vectors_measure(&levels, samples, channels, samples.count)
    #expect(vectors_measure(&plain, [], channels, 0) == 0 && isSame(plain, before + [7]))
    #expect(plain_measure(&plain, samples, channels, samples.count) == highest)
    #expect(isSame(levels, plain) && levels[2 * channels] == 7)
    for channel in 0..<channels {
      let own = stride(from: channel, to: samples.count, by: channels).map { samples[$0] }
      let peak = own.filter { !$0.isNaN }.map { abs($0) }.max() ?? 0
      #expect(levels[channel] == max(before[channel], peak))
      let squares = own.reduce(Double(before[channels + channel])) { $0 + Double($1 * $1) }
      let sum = Double(levels[channels + channel])
      #expect(squares.isNaN ? sum.isNaN : abs(sum - squares) <= 1e-5 * squares)
    }
    #expect(highest == samples.filter { !$0.isNaN }.map { abs($0) }.max() ?? 0)
  }

  @Test(arguments: counts, 1...9)
  func `sum, sum of squares and peak are computed for each channel`(frames: Int, channels: Int) {
    let samples = samples(frames * channels, seed: 3)
    let room = [ChannelSums](
      repeating: ChannelSums(sum: 7, squares: 7, peak: 7), count: channels + 1)
    var (sums, plain) = (room, room)
    vectors_sum_up(&sums, samples, frames, channels)
    plain_sum_up(&plain, samples, frames, channels)
    for channel in 0..<channels {
      let own = stride(from: channel, to: samples.count, by: channels).map { Double(samples[$0]) }
      let squares = own.reduce(0) { $0 + $1 * $1 }
      #expect(abs(sums[channel].sum - own.reduce(0, +)) < 1e-10)
      #expect(abs(sums[channel].squares - squares) < 1e-10)
      #expect(Double(sums[channel].peak) == own.map { abs($0) }.max() ?? 0)
      #expect(sums[channel].sum == plain[channel].sum && sums[channel].peak == plain[channel].peak)
      #expect(sums[channel].squares == plain[channel].squares)
    }
    #expect(sums[channels].sum == 7 && sums[channels].squares == 7 && sums[channels].peak == 7)
  }

  @Test(arguments: [0, 1, 2, 3, 5, 100], [1, 2, 3])
  func `two cascaded sections filter two channels`(count: Int, stride: Int) {
    func pair(_ first: Double, _ second: Double) -> SectionPair {
      SectionPair(first: SIMD2(first, first), second: SIMD2(second, second))
    }
    var weights = SectionWeights(
      b1: pair(-2, -1.69), b2: pair(1, 0.73), a1: pair(-1.98, -1.66), a2: pair(0.985, 0.71))
    let samples = samples(stride * 200 + 3, seed: 4)
    var (early, late) = (SectionPair(), SectionPair())
    var (plainEarly, plainLate) = (SectionPair(), SectionPair())
    var (power, plainPower) = (SIMD2<Double>(), SIMD2<Double>())
    // Sample by sample, each section by its difference equation.
    func filter(_ input: [Double], _ section: KeyPath<SectionPair, SIMD2<Double>>) -> [Double] {
      var output: [Double] = []
      for index in input.indices {
        func before(_ values: [Double], _ back: Int) -> Double {
          index >= back ? values[index - back] : 0
        }
        let zeros =
          weights.b1[keyPath: section][0] * before(input, 1)
          + weights.b2[keyPath: section][0] * before(input, 2)
        let poles =
          weights.a1[keyPath: section][0] * before(output, 1)
          + weights.a2[keyPath: section][0] * before(output, 2)
        output.append(input[index] + zeros - poles)
      }
      return output
    }
    // In two calls, so that the second call starts with the states of the first.
    for part in 0..<2 {
      samples.withUnsafeBufferPointer { samples in
        guard let base = samples.baseAddress else { return }
        let left = base + part * count * stride
        let before = power
        vectors_filtered_power(&weights, &early, &late, &power, left, left + 1, stride, count)
        plain_filtered_power(
          &weights, &plainEarly, &plainLate, &plainPower, left, left + 1, stride, count)
        #expect(power == plainPower)
        for channel in 0..<2 {
          let input = (0..<(part + 1) * count).map { Double(base[$0 * stride + channel]) }
          let output = filter(filter(input, \.first), \.second).suffix(count)
          let wanted = output.reduce(0) { $0 + $1 * $1 }
          #expect(abs(power[channel] - before[channel] - wanted) <= 1e-9 * wanted)
        }
        // The second channel need not be next to the first.
        var (apartEarly, apartLate, apart) = (SectionPair(), SectionPair(), SIMD2<Double>())
        vectors_filtered_power(
          &weights, &apartEarly, &apartLate, &apart, base, base + 3, stride, count)
        var (againEarly, againLate, again) = (SectionPair(), SectionPair(), SIMD2<Double>())
        plain_filtered_power(
          &weights, &againEarly, &againLate, &again, base, base + 3, stride, count)
        #expect(apart == again)
      }
    }
  }

  @Test(arguments: [1, 2, 4], [6, 12])
  func `peaks between samples equal those of the interpolation filters`(stride: Int, pairs: Int) {
    let weights = samples(24 * pairs, seed: 5).enumerated().map { index, _ in
      samples(3 * pairs, seed: 6)[index / 8] * 0.2
    }
    let reach = 2 * pairs + 3
    let sound = samples((reach + 64) * stride, seed: 7)
    weights.withUnsafeBufferPointer { weights in
      sound.withUnsafeBufferPointer { sound in
        guard let table = weights.baseAddress, let samples = sound.baseAddress else { return }
        // With these thresholds no sample is skipped.
        var search = PeakSearch(
          weights: table, nearby: table + 24 * (pairs - 2), pairs: pairs,
          minimum_samples: SIMD4(repeating: -1), minimum_nearby: SIMD4(repeating: -1))
        for end in [1, 2, 3, 4, 7, 8, 9, 16, 61, 64 * stride] {
          let windows = samples + 4 * stride
          let found = vectors_search_peaks(
            &search, SIMD4(repeating: 0.125), windows, stride, end)
          let plain = plain_search_peaks(&search, SIMD4(repeating: 0.125), windows, stride, end)
          #expect(found == plain)
          var wanted: Float = 0.125
          for position in 0..<end {
            var parts = (Float(0), Float(0), Float(0))
            for pair in 0..<pairs {
              let early = windows[position + pair * stride]
              let late = windows[position + (2 * pairs - 1 - pair) * stride]
              parts.0 += (early + late) * table[24 * pair]
              parts.1 += (early + late) * table[24 * pair + 8]
              parts.2 += (early - late) * table[24 * pair + 16]
            }
            wanted = max(wanted, abs(parts.0), abs(parts.1) + abs(parts.2))
          }
          // Some of the preceding samples may be evaluated as well.
          if end >= 4 { #expect(found.max() == wanted) } else { #expect(found.max() >= wanted) }
        }
        // Nothing is evaluated if no sample, or no approximation, reaches its threshold.
        search.minimum_samples = SIMD4(repeating: 1.6)
        #expect(
          vectors_search_peaks(&search, SIMD4(), samples + 4 * stride, stride, 64) == SIMD4())
        search.minimum_samples = SIMD4(repeating: -1)
        search.minimum_nearby = SIMD4(repeating: 100)
        #expect(
          vectors_search_peaks(&search, SIMD4(), samples + 4 * stride, stride, 64) == SIMD4())
      }
    }
  }

  /// The levels of the channels differ, one channel is silent, one is below the range of 16 bits,
  /// and one sample is NaN.
  @Test(arguments: [1, 2, 4, 8], [6, 12])
  func `a search in 16 bits finds the same peaks between samples`(stride: Int, pairs: Int) {
    let factors = samples(3 * pairs, seed: 8).map { $0 * 0.9 / Float(pairs) }
    let weights = (0..<24 * pairs).map { factors[$0 / 8] }
    let outer = 3 * (pairs - Int(VECTORS_ROUGH_PAIRS))
    let norms = Swift.stride(from: 0, to: outer, by: 3).reduce(into: (Float(0), Float(0))) {
      $0.0 += 2 * abs(factors[$1])
      $0.1 += 2 * max(abs(factors[$1 + 1]), abs(factors[$1 + 2]))
    }
    var rounded = [Int16](repeating: 0, count: 3 * pairs)
    vectors_round_weights(&rounded, weights, pairs)
    let levels: [Float] = stride == 4 ? [1, 0.01, 0, 1e-34] : [0.7, 0.7, 0.7, 0.7]
    for frames in [1, 3, 15, 16, 17, 100, 530] {
      var sound = samples((frames + 2 * pairs + 3) * stride, seed: UInt64(9 + frames))
      for index in sound.indices { sound[index] *= levels[index % 4] }
      sound[sound.count / 2 / stride * stride] = .nan
      weights.withUnsafeBufferPointer { weights in
        sound.withUnsafeBufferPointer { sound in
          guard let table = weights.baseAddress, let samples = sound.baseAddress else { return }
          let windows = samples + 4 * stride
          let bounds = SIMD4<Float>(levels) * 1.5
          var exact = PeakSearch(
            weights: table, nearby: table, pairs: pairs, minimum_samples: SIMD4(repeating: -1),
            minimum_nearby: SIMD4(repeating: -1))
          let peaks = vectors_search_peaks(&exact, SIMD4(), windows, stride, frames * stride)
          for part: Float in [0, 0.5, 0.9, 0.999, 1, 1.1] {
            let known = SIMD4(repeating: peaks.max() * part)
            let wanted = vectors_search_peaks(&exact, known, windows, stride, frames * stride)
            rounded.withUnsafeBufferPointer { rounded in
              guard let rounded = rounded.baseAddress else { return }
              var search = RoughPeakSearch(
                weights: table, rounded_weights: rounded, pairs: pairs,
                outer_norm_of_middle: norms.0, outer_norm_around: norms.1)
              let end = frames * stride
              let found = vectors_search_rough_peaks(&search, known, bounds, windows, stride, end)
              #expect(found.max() == wanted.max())
              if stride == 4 { #expect(found == wanted) }
              #expect(
                found == plain_search_rough_peaks(&search, known, bounds, windows, stride, end))
            }
          }
        }
      }
    }
  }

  @Test(arguments: counts, 1...3)
  func `a limiter's gain rises linearly, or falls as far as each frame requires`(
    frames: Int, channels: Int
  ) {
    for (gain, target, step, level) in [
      (1, 1, 0, 1), (0.5, 0.9, 0.01, 1), (0.9, 0.4, 0, 1), (0.2, 1, 0.1, 1), (1, 1, 0, 0.5),
      (0.5, 0.9, 0.0001, 0.5), (0.5, 0.501, 0.1, 1), (0.5, 0.5, 0, 1), (0.9, 0.9, 0.01, 4),
    ] as [(Float, Float, Float, Float)] {
      let start = samples(frames * channels + 1, seed: 8).map { $0 * level }
      let limiter = LimiterGain(
        limit: 0.8, brought_to: 0.799_999_2, step: step, target: target, gain: gain)
      let highest = start.prefix(frames * channels).reduce(0) { max($0, abs($1)) }
      let last = step > 0 ? min(target, gain + step * Float(frames)) : gain
      let falls = highest * last > 0.8
      var (wanted, single, wantedAbove) = (start, limiter, 0)
      for frame in 0..<frames {
        let samples = frame * channels..<(frame + 1) * channels
        let peak = samples.map { abs(wanted[$0]) }.max() ?? 0
        single.gain =
          falls
          ? min(max(single.target, single.gain), single.gain + step)
          : gain + (last - gain) / Float(frames) * Float(frame)
        if peak > 0.8 {
          wantedAbove += 1
          if falls {
            single.target = min(single.target, single.brought_to / peak)
            single.gain = min(single.gain, single.brought_to / peak)
          }
        }
        for index in samples { wanted[index] = max(-0.8, min(0.8, wanted[index] * single.gain)) }
      }
      if !falls { single.gain = last }
      var (limited, plain) = (start, start)
      var (state, plainState) = (limiter, limiter)
      let block = vectors_limit_block(&state, &limited, channels, frames)
      let plainBlock = plain_limit_block(&plainState, &plain, channels, frames)
      #expect(block.peak == highest && plainBlock.peak == highest)
      #expect(block.above == wantedAbove && plainBlock.above == wantedAbove)
      #expect(vectors_frames_above(start, channels, frames, 0.8) == wantedAbove)
      #expect(plain_frames_above(start, channels, frames, 0.8) == wantedAbove)
      #expect(isSame(limited, plain))
      #expect(state.gain == plainState.gain && state.target == plainState.target)
      #expect(state.target == single.target && abs(state.gain - single.gain) < 1e-6)
      #expect(
        zip(limited, wanted).allSatisfy {
          abs($0 - $1) < 1e-6 && (abs($0) <= 0.8 || $0 == start[frames * channels])
        })
      #expect(limited[frames * channels] == start[frames * channels])
    }
  }

  @Test(arguments: [1, 7, 8, 19], 1...3)
  func `a limiter leaves a block with NaN or infinity as it is`(frames: Int, channels: Int) {
    for value in [Float.nan, -.nan, .infinity, -.infinity] {
      for index in 0..<frames * channels {
        var samples = samples(frames * channels, seed: 12)
        samples[index] = value
        let start = samples
        var limiter = LimiterGain(limit: 0.1, brought_to: 0.1, step: 0, target: 0.5, gain: 0.5)
        let block = vectors_limit_block(&limiter, &samples, channels, frames)
        #expect(!block.peak.isFinite && block.peak.isNaN == value.isNaN)
        #expect(isSame(samples, start) && limiter.gain == 0.5 && limiter.target == 0.5)
        let plain = plain_limit_block(&limiter, &samples, channels, frames)
        #expect(!plain.peak.isFinite && isSame(samples, start))
      }
    }
  }

  @Test(arguments: 1...3)
  func `NaN in one channel does not hide a loud channel`(channels: Int) {
    for channel in 0..<channels {
      var samples = [Float](repeating: 0.5, count: 19 * channels)
      for frame in 0..<19 {
        samples[frame * channels + channel] = .nan
        samples[frame * channels + (channel + 1) % channels] = channels > 1 ? 2 : .nan
      }
      let above = channels > 1 ? 19 : 0
      #expect(vectors_frames_above(samples, channels, 19, 0.8) == above)
      #expect(plain_frames_above(samples, channels, 19, 0.8) == above)
    }
  }

  @Test(arguments: counts, 1...3)
  func `a gain changes linearly from frame to frame`(frames: Int, channels: Int) {
    let start = samples(frames * channels + 1, seed: 9)
    var (ramped, plain) = (start, start)
    vectors_ramp(&ramped, channels, frames, 0.3, 0.001)
    plain_ramp(&plain, channels, frames, 0.3, 0.001)
    let wanted = start.enumerated().map { index, sample in
      index < frames * channels ? sample * (0.3 + 0.001 * Float(index / channels)) : sample
    }
    #expect(isSame(ramped, wanted) && isSame(plain, wanted))
  }

  @Test(arguments: 0...20)
  func `bands filtered sample by sample have identical sums with and without AVX2`(count: Int) {
    var chance = SplitMix64(seed: 10)
    func four() -> SIMD4<Float> { .random(in: 0.1...0.4, using: &chance) }
    func pair() -> BandPair { BandPair(band: four(), low: four()) }
    var weights = BandFilterWeights()
    (weights.a1, weights.a2, weights.g, weights.damping) = (four(), four(), four(), four())
    let (samples, others) = (samples(20, seed: 11), samples(20, seed: 12))
    var (state, between) = (pair(), pair())
    var (plainState, plainBetween) = (state, between)
    var sums = BandSums(energy: four(), products: four(), squares: four(), before: four())
    var plain = sums
    vectors_follow_bands(&weights, &state, &between, &sums, samples, others, count)
    plain_follow_bands(&weights, &plainState, &plainBetween, &plain, samples, others, count)
    #expect(sums.energy == plain.energy && sums.products == plain.products)
    #expect(sums.squares == plain.squares && sums.before == plain.before)
    #expect(state.band == plainState.band && state.low == plainState.low)
    #expect(between.band == plainBetween.band && between.low == plainBetween.low)
  }
}
