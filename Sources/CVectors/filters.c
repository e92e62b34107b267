// The band-pass filters of the feedback suppressor, and the sums of channels that they process.
#include "vectors.h"

BODY float8 of_pair(const BandPair *pair) { return load8((const float *)pair); }

BODY void vectors_filter_bands_body(
    const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count) {
  const float4 a1 = weights->a1, a2 = weights->a2, g = weights->g, damping = weights->damping;
  const float8 of_same = of_pair(&weights->of_same), of_other = of_pair(&weights->of_other);
  // In each vector of eight, the lower half belongs to the band-passes and the upper half to the
  // low-passes.
  float8 present = of_pair(state), sum = 0;
  for (const float *const end = samples + 8 * count; samples < end; samples += 8) {
    float8 next = of_same * present + of_other * both(present.hi, present.lo);
#pragma clang loop unroll(full)
    for (int index = 0; index < 7; index++) next += of_pair(&weights->of_sample[index]) * samples[index];
    // The same computation as in BandFilters.step.
    const float4 sample = samples[7];
    const float4 band = a1 * next.lo + a2 * (sample - next.hi);
    const float4 low = next.hi + g * band;
    const float4 high = sample - damping * band - low;
    const float8 output = both(band, low);
    sum += output * both(band, high);
    present = output + output - next;
  }
  store8((float *)state, present);
  *energy += sum.lo - sum.hi;
}
TWO_VERSIONS(
    void, vectors_filter_bands,
    (const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count),
    weights, state, energy, samples, count)

// The same computation as in BandFilters.step for two sets of filters: the samples are in the lower
// half of each vector, the samples between them in the upper half.
BODY void vectors_follow_bands_body(
    const BandFilterWeights *weights, BandPair *state, BandPair *between, BandSums *sums, const float *samples,
    const float *samples_between, long count) {
  const float8 a1 = both(weights->a1, weights->a1), a2 = both(weights->a2, weights->a2);
  const float8 g = both(weights->g, weights->g), damping = both(weights->damping, weights->damping);
  float8 present_band = both(state->band, between->band), present_low = both(state->low, between->low);
  float8 energy = 0;
  float4 products = sums->products, squares = sums->squares, before = sums->before;
  for (long index = 0; index < count; index++) {
    const float8 sample = both((float4)samples[index], (float4)samples_between[index]);
    const float8 band = a1 * present_band + a2 * (sample - present_low);
    const float8 low = present_low + g * band;
    const float8 high = sample - damping * band - low;
    present_band = band + band - present_band;
    present_low = low + low - present_low;
    energy += band * band - high * low;
    products += band.lo * before;
    squares += band.lo * band.lo;
    before = band.lo;
  }
  *state = (BandPair){present_band.lo, present_low.lo};
  *between = (BandPair){present_band.hi, present_low.hi};
  sums->energy += energy.lo + energy.hi;
  sums->products = products;
  sums->squares = squares;
  sums->before = before;
}
TWO_VERSIONS(
    void, vectors_follow_bands,
    (const BandFilterWeights *weights, BandPair *state, BandPair *between, BandSums *sums, const float *samples,
     const float *samples_between, long count),
    weights, state, between, sums, samples, samples_between, count)

// Returns the sums of the channels of eight frames, which are two frames apart: of the first ones,
// or of the `second` ones between them.
BODY float8 alternate_stereo_sums(int second, float8 one, float8 two, float8 three, float8 four) {
  const float8 early = second ? __builtin_shufflevector(one, two, 2, 3, 10, 11, 6, 7, 14, 15)
                              : __builtin_shufflevector(one, two, 0, 1, 8, 9, 4, 5, 12, 13);
  const float8 late = second ? __builtin_shufflevector(three, four, 2, 3, 10, 11, 6, 7, 14, 15)
                             : __builtin_shufflevector(three, four, 0, 1, 8, 9, 4, 5, 12, 13);
  const float8 left = __builtin_shufflevector(early, late, 0, 2, 8, 10, 4, 6, 12, 14);
  const float8 right = __builtin_shufflevector(early, late, 1, 3, 9, 11, 5, 7, 13, 15);
  const float8 sums = left + right;
  return __builtin_shufflevector(sums, sums, 0, 4, 1, 5, 2, 6, 3, 7);
}

// Returns the sums of the channels of eight frames, which are two frames apart. Unless it is NULL,
// raises `highest` to the magnitudes of all of these frames and of those between them.
BODY float8 stereo_sums(const float *samples, float8 *highest) {
  const float8 first = load8(samples), second = load8(samples + 8);
  const float8 third = load8(samples + 16), fourth = load8(samples + 24);
  if (highest) {
    float8 peaks = higher(magnitudes(first), *highest);
    peaks = higher(magnitudes(second), peaks);
    peaks = higher(magnitudes(third), peaks);
    *highest = higher(magnitudes(fourth), peaks);
  }
  return alternate_stereo_sums(0, first, second, third, fourth);
}

// Returns every other one of sixteen samples: the first ones, or the `second` ones between them.
BODY float8 alternate_samples(int second, float8 one, float8 two) {
  return second ? __builtin_shufflevector(one, two, 1, 3, 5, 7, 9, 11, 13, 15)
                : __builtin_shufflevector(one, two, 0, 2, 4, 6, 8, 10, 12, 14);
}

BODY float8 mono_sums(const float *samples, float8 *highest) {
  const float8 first = load8(samples), second = load8(samples + 8);
  if (highest) *highest = higher(magnitudes(second), higher(magnitudes(first), *highest));
  return alternate_samples(0, first, second);
}

BODY void sum_groups(float *sums, const float *samples, long channels, long count, float8 *highest) {
  if (channels == 2) {
#pragma clang loop unroll_count(2)
    for (long index = 0; index < count; index += 8) store8(sums + index, stereo_sums(samples + 4 * index, highest));
  } else {
#pragma clang loop unroll_count(2)
    for (long index = 0; index < count; index += 8) store8(sums + index, mono_sums(samples + 2 * index, highest));
  }
}

BODY void vectors_sum_every_other_body(float *sums, const float *samples, long channels, long count) {
  sum_groups(sums, samples, channels, count, NULL);
}
TWO_VERSIONS(
    void, vectors_sum_every_other, (float *sums, const float *samples, long channels, long count), sums, samples,
    channels, count)

BODY float vectors_sum_and_measure_body(float *sums, const float *samples, long channels, long count) {
  float8 highest = 0;
  sum_groups(sums, samples, channels, count, &highest);
  return highest_of(highest);
}
TWO_VERSIONS(
    float, vectors_sum_and_measure, (float *sums, const float *samples, long channels, long count), sums, samples,
    channels, count)

BODY void vectors_sum_alternately_body(
    float *sums, float *between, const float *samples, long channels, long count) {
  for (long index = 0; index < count; index += 8) {
    if (channels == 2) {
      const float *frames = samples + 4 * index;
      const float8 one = load8(frames), two = load8(frames + 8), three = load8(frames + 16), four = load8(frames + 24);
      store8(sums + index, alternate_stereo_sums(0, one, two, three, four));
      store8(between + index, alternate_stereo_sums(1, one, two, three, four));
    } else {
      const float8 one = load8(samples + 2 * index), two = load8(samples + 2 * index + 8);
      store8(sums + index, alternate_samples(0, one, two));
      store8(between + index, alternate_samples(1, one, two));
    }
  }
}
TWO_VERSIONS(
    void, vectors_sum_alternately, (float *sums, float *between, const float *samples, long channels, long count),
    sums, between, samples, channels, count)
