// The search for peaks between samples.
#include "vectors.h"

BODY float8 twice(float4 four) { return both(four, four); }

// Loads four or eight samples; four samples are copied to both halves.
BODY float8 load(int is_eight, const float *samples) {
  typedef float4 unaligned4 __attribute__((aligned(4)));
  return is_eight ? load8(samples) : twice(*(const unaligned4 *)samples);
}

// Returns a mask with all bits set in the lanes in which the magnitude is above `minimum`.
BODY integer8 over(float8 minimum, float8 samples) { return magnitudes(samples) > minimum; }

// Returns whether one of the eight lanes is set.
BODY int is_any(integer8 lanes) { return __builtin_reduce_or(lanes) != 0; }

// The magnitudes of interpolated values, one lane for each of eight windows: at the position in the
// middle between two samples, and the higher one of the two positions around it.
typedef struct {
  float8 middle, around;
} Interpolated;

// Applies the filters of `pairs` pairs of taps to the samples from `window` on.
BODY Interpolated interpolated(int is_eight, const float *window, long stride, const float *weights, long pairs) {
  float8 middle = 0, common = 0, different = 0;
#pragma clang loop unroll(full)
  for (long pair = 0; pair < pairs; pair++) {
    const float8 early = load(is_eight, window + pair * stride);
    const float8 late = load(is_eight, window + (2 * pairs - 1 - pair) * stride);
    const float8 sum = early + late;
    const float8 first = sum * load8(weights + 24 * pair), second = sum * load8(weights + 24 * pair + 8);
    const float8 third = (early - late) * load8(weights + 24 * pair + 16);
    middle = pair == 0 ? first : middle + first;
    common = pair == 0 ? second : common + second;
    different = pair == 0 ? third : different + third;
  }
  return (Interpolated){magnitudes(middle), magnitudes(common) + magnitudes(different)};
}

// Returns the higher of `highest` and the interpolated values of the four or eight windows that
// start at `window`.
BODY float8 evaluated(
    int is_eight, const float *weights, long pairs, float8 highest, const float *window, long stride) {
  const Interpolated whole = interpolated(is_eight, window, stride, weights, pairs);
  return higher(whole.middle, higher(whole.around, highest));
}

// Does the same if the thresholds are exceeded. The approximations need half of the time of the
// filters. `worth` decreases by 3 if the filters must be evaluated after the approximations, and
// increases by 1 otherwise; the approximations are skipped once it is below zero.
BODY float8 search_around(
    int is_eight, const PeakSearch *search, long pairs, float8 highest, const float *window, long stride,
    long *worth) {
  // The first of the two samples in the middle of the window.
  const float *early = window + (pairs - 1) * stride;
  const float8 minimum_samples = twice(search->minimum_samples), minimum_nearby = twice(search->minimum_nearby);
  if (!is_any(over(minimum_samples, load(is_eight, early)) | over(minimum_samples, load(is_eight, early + stride)))) {
    return highest;
  }
  if (*worth >= 0) {
    const Interpolated nearby = interpolated(is_eight, early - stride, stride, search->nearby, 2);
    const int is_over = is_any((nearby.middle > minimum_nearby) | (nearby.around > minimum_nearby));
    *worth += is_over ? -3 : 1;
    if (!is_over) return highest;
  }
  return evaluated(is_eight, search->weights, pairs, highest, window, stride);
}

// Searches with this number of pairs, which is a constant after inlining.
BODY float4 search_smooth(
    const PeakSearch *search, long pairs, float4 known, const float *windows, long stride, long end) {
  float8 highest = twice(known);
  long index = 0, worth = 5;
  for (; index + 8 <= end; index += 8) {
    highest = search_around(1, search, pairs, highest, windows + index, stride, &worth);
  }
  while (index < end) {
    // Some of the last four windows may be searched twice.
    index = index + 4 < end ? index + 4 : end;
    highest = search_around(0, search, pairs, highest, windows + index - 4, stride, &worth);
  }
  return higher4(highest);
}

BODY float4 vectors_search_peaks_body(
    const PeakSearch *search, float4 known, const float *windows, long stride, long end) {
  return search->pairs == 6 ? search_smooth(search, 6, known, windows, stride, end)
                            : search_smooth(search, 12, known, windows, stride, end);
}
TWO_VERSIONS(
    float4, vectors_search_peaks,
    (const PeakSearch *search, float4 known, const float *windows, long stride, long end), search, known, windows,
    stride, end)

// Rounds eight samples below 2^15 to integers; NaN becomes an arbitrary number.
BODY short8 rounded8(float8 samples) {
  // Floats from 2^23 to 2^24 are whole numbers.
  return __builtin_convertvector((integer8)(samples + 0x1.8p23f), short8);
}

BODY short16 two_eights(short8 lower, short8 upper) {
  return __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

void vectors_round_weights(int16_t *rounded, const float *weights, long pairs) {
  for (long index = 0; index < 3 * pairs; index++) rounded[index] = (int16_t)lrintf(weights[8 * index] * 32768);
}

// The sums of products in 16 bits for sixteen windows: half of those that `interpolated` computes.
typedef struct {
  short16 middle, common, different;
} RoughSums;

// Returns the upper halves of the products.
BODY short16 upper_halves(short16 samples, int16_t weight) {
  typedef int32_t integer16 __attribute__((ext_vector_type(16)));
  const short16 weights = weight;
  return __builtin_convertvector(
      (__builtin_convertvector(samples, integer16) * __builtin_convertvector(weights, integer16)) >> 16, short16);
}

// Adds the products of the pairs of taps from `pair` to before `end`.
BODY void add_products(
    RoughSums *sums, const int16_t *window, long stride, const int16_t *weights, long pairs, long pair, long end) {
#pragma clang loop unroll(full)
  for (; pair < end; pair++) {
    const short16 early = *(const unaligned_short16 *)(window + pair * stride);
    const short16 late = *(const unaligned_short16 *)(window + (2 * pairs - 1 - pair) * stride);
    sums->middle += upper_halves(early + late, weights[3 * pair]);
    sums->common += upper_halves(early + late, weights[3 * pair + 1]);
    sums->different += upper_halves(early - late, weights[3 * pair + 2]);
  }
}

// The thresholds of `RoughSums` for the position in the middle, and for those around it.
typedef struct {
  short16 middle, around;
} RoughThresholds;

// Returns whether a value is above its threshold.
BODY int is_over(const RoughSums *sums, const RoughThresholds *minimum) {
  const short16 middle = __builtin_elementwise_abs(sums->middle);
  const short16 around = __builtin_elementwise_abs(sums->common) + __builtin_elementwise_abs(sums->different);
  return __builtin_reduce_or((middle > minimum->middle) | (around > minimum->around)) != 0;
}

// Returns `threshold` relative to the highest magnitude in the scale of `RoughSums`, lowered by the
// error of `pairs` pairs: at most 1 for the omitted lower half of each of two products and 1/4 for
// each rounded weight, and 1/2 in total for the rounded samples.
BODY short16 rough_threshold(float4 threshold, float4 bounds, long pairs) {
  // A channel without sound has no peaks. One below the range of the scale is always evaluated.
  const float8 wanted = twice(threshold / bounds * 8191 - (float)(3 * pairs + 1));
  const float8 wide = wanted > 32767 ? 32767 : wanted > -1 ? wanted : -1;
  const float8 bound = twice(bounds);
  const short8 rounded = rounded8(bound > 0 ? bound > 1e-30f ? wide : (float8)-1 : (float8)32767);
  return two_eights(rounded, rounded);
}

enum { rough_windows = 512, rough_samples = rough_windows + 23 * VECTORS_MAXIMUM_ROUGH_STRIDE };

BODY void round16(int16_t *rounded, const float *samples, float8 scale) {
  *(unaligned_short16 *)rounded = two_eights(rounded8(load8(samples) * scale), rounded8(load8(samples + 8) * scale));
}

// Rounds samples to 16 bits: `count` samples, at least sixteen, with a scale for each lane.
BODY void round_samples(int16_t *rounded, const float *samples, float8 scale, long count) {
#pragma clang loop unroll_count(4)
  for (long index = 0; index + 16 <= count; index += 16) round16(rounded + index, samples + index, scale);
  // The last sixteen overlap the previous ones.
  round16(rounded + count - 16, samples + count - 16, scale);
}

// Searches with these numbers, which are constants after inlining.
BODY float4 search_rough(
    const RoughPeakSearch *search, long pairs, float4 known, float4 bounds, const float *windows, long stride,
    long end) {
  const long middle = pairs - VECTORS_ROUGH_PAIRS;
  const float8 scale = twice(bounds > 1e-30f ? 16383 / bounds : 0);
  const RoughThresholds minimum_nearby = {
      rough_threshold(known - search->outer_norm_of_middle * bounds, bounds, VECTORS_ROUGH_PAIRS),
      rough_threshold(known - search->outer_norm_around * bounds, bounds, VECTORS_ROUGH_PAIRS)};
  const short16 minimum = rough_threshold(known, bounds, pairs);
  const RoughThresholds minimum_whole = {minimum, minimum};
  int16_t samples[rough_samples];
  float8 highest = twice(known);
  while (end >= 16) {
    const long count = end < rough_windows ? end & ~15 : rough_windows;
    round_samples(samples, windows, scale, count + (2 * pairs - 1) * stride);
    for (long index = 0; index < count; index += 16) {
      RoughSums sums = {0, 0, 0};
      add_products(&sums, samples + index, stride, search->rounded_weights, pairs, middle, pairs);
      if (!is_over(&sums, &minimum_nearby)) continue;
      add_products(&sums, samples + index, stride, search->rounded_weights, pairs, 0, middle);
      if (!is_over(&sums, &minimum_whole)) continue;
      highest = evaluated(1, search->weights, pairs, highest, windows + index, stride);
      highest = evaluated(1, search->weights, pairs, highest, windows + index + 8, stride);
    }
    windows += count;
    end -= count;
  }
  for (long index = 0; index < end;) {
    // Some of the last four windows may be evaluated twice.
    index = index + 4 < end ? index + 4 : end;
    highest = evaluated(0, search->weights, pairs, highest, windows + index - 4, stride);
  }
  return higher4(highest);
}

BODY float4 vectors_search_rough_peaks_body(
    const RoughPeakSearch *search, float4 known, float4 bounds, const float *windows, long stride, long end) {
  if (search->pairs == 12) return search_rough(search, 12, known, bounds, windows, stride, end);
  if (stride == 2) return search_rough(search, 6, known, bounds, windows, 2, end);
  return search_rough(search, 6, known, bounds, windows, stride, end);
}
TWO_VERSIONS(
    float4, vectors_search_rough_peaks,
    (const RoughPeakSearch *search, float4 known, float4 bounds, const float *windows, long stride, long end), search,
    known, bounds, windows, stride, end)
