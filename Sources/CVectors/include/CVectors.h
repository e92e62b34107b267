// Arithmetic on many samples at once.
//
// Vectors of the compiler: an operation on four floats is one instruction, on four doubles two. The standard library of
// Swift works number by number, and leaves it to the optimiser to put them together again.
//
// Loops over samples: compiled twice, for every processor of the architecture and for those with AVX2, which take
// eight floats at a time. Which one runs is decided where it is called, by what the processor says of itself. Both
// round every result in the same way: they give the same samples, bit for bit.
#pragma once

#include <stdint.h>
#include <string.h>

#define VECTOR_FUNCTION __attribute__((swift_attr("@_noLocks"), always_inline, const)) static inline
// Of CVectors.c: nothing but arithmetic on the memory it is given.
#define SAMPLE_LOOP __attribute__((swift_attr("@_noLocks")))

#pragma clang assume_nonnull begin

#define VECTOR_ARITHMETIC(vector, number, count) \
  typedef number vector __attribute__((ext_vector_type(count))); \
  VECTOR_FUNCTION vector vector##_sum(vector left, vector right) { return left + right; } \
  VECTOR_FUNCTION vector vector##_difference(vector left, vector right) { return left - right; } \
  VECTOR_FUNCTION vector vector##_product(vector left, vector right) { return left * right; }

VECTOR_ARITHMETIC(float4, float, 4)
VECTOR_ARITHMETIC(double4, double, 4)
VECTOR_ARITHMETIC(integer4, int64_t, 4)
typedef double double2 __attribute__((ext_vector_type(2)));

/// The four numbers in units of 1/1024, of which they are multiples; no magnitude above 4096.
VECTOR_FUNCTION integer4 float4_in_1024ths(float4 numbers) {
  // From 8192 to 16384 two floats are 1/1024 apart.
  typedef int32_t bits4 __attribute__((ext_vector_type(4)));
  const float4 large = 12288;
  return __builtin_convertvector((bits4)(numbers + large) - (bits4)large, integer4);
}

/// The four whole numbers, which are below 2^51 in magnitude.
VECTOR_FUNCTION double4 integer4_as_double4(integer4 numbers) {
  // From 2^52 to 2^53 two doubles are 1 apart.
  const double4 large = 0x1.8p52;
  return (double4)((integer4)large + numbers) - large;
}

/// The highest magnitude of `count` samples; those that are not a number do not count.
SAMPLE_LOOP float vectors_peak(const float *samples, long count);

/// Multiplies `count` samples by `gain`.
SAMPLE_LOOP void vectors_scale(float *samples, float gain, long count);

/// Adds to each of `count` samples that of `added`, which is other memory.
SAMPLE_LOOP void vectors_add(float *target, const float *added, long count);

/// Multiplies the first of `frames` frames by `gain` and each further one by `step` more.
SAMPLE_LOOP void vectors_ramp(float *samples, long channels, long frames, float gain, float step);

/// How many of `frames` frames have a sample whose magnitude is above `limit`.
SAMPLE_LOOP long vectors_frames_above(const float *samples, long channels, long frames, float limit);

/// A limiter's gain.
typedef struct {
  /// The highest magnitude let through, and what one above it is brought to: a little less.
  float limit, brought_to;
  /// By how much the gain rises from frame to frame, but no higher than the target.
  float step, target, gain;
} LimiterGain;

/// Multiplies each of `frames` frames by the gain, which falls to what the frame takes, and so does the target. Returns how
/// many frames were above the limit.
SAMPLE_LOOP long vectors_limit(LimiterGain *limiter, float *samples, long channels, long frames);

/// Copies `count` samples to other memory. The C library chooses its version by itself.
__attribute__((swift_attr("@_noLocks"), always_inline)) static inline void vectors_copy(
    float *target, const float *source, long count) {
  memcpy(target, source, (size_t)count * sizeof(float));
}

/// Writes `count` samples as 16-bit integers, rounded to the nearest (ties to even) and saturated; what
/// is not a number becomes 0. Returns how many of those there were.
SAMPLE_LOOP long vectors_encode16(int16_t *target, const float *source, long count);

/// The same as 32-bit integers, which saturate at 2147483520: the highest float below 2^31.
SAMPLE_LOOP long vectors_encode32(int32_t *target, const float *source, long count);

/// Reads `count` 16-bit integers as samples from -1 to below 1.
SAMPLE_LOOP void vectors_decode16(float *target, const int16_t *source, long count);

/// Writes `count` weights, a multiple of 8, to a row as WeightRow.swift describes it: the sum of four rows of a table, each
/// `stride` samples behind the one before, each under its own factor.
SAMPLE_LOOP void vectors_mix_weights(
    float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
    double third_factor, double fourth_factor);

/// The sum of `count` products of a row of weights and samples; `count` is a multiple of 8.
SAMPLE_LOOP float vectors_inner_product(const float *weights, const float *samples, long count);

/// The same of two rows of samples under the same weights.
SAMPLE_LOOP void vectors_inner_products(
    const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum);

/// Two numbers of each of four band-pass filters: of its band-pass and of its low-pass (see BandFilters.swift).
typedef struct {
  float4 band, low;
} BandPair;

/// What four band-pass filters do with eight samples.
typedef struct {
  /// The columns of the matrix that the first seven samples multiply the filters' states by: that of the band-pass, that
  /// of the low-pass.
  BandPair of_band, of_low;
  /// The weights with which each of the seven is added to both states.
  BandPair of_sample[7];
  /// The coefficients with which the eighth is taken.
  float4 a1, a2, g, damping;
} BandFilterWeights;

/// Takes eight samples `count` times. Adds to `energy` that of the band-passes at each eighth sample.
SAMPLE_LOOP void vectors_filter_bands(
    const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count);

/// What is summed up of four band-passes: the energies of what is in the bands, the products of each output with the one
/// before, which is kept, and the outputs' squares.
typedef struct {
  float4 energy, products, squares, before;
} BandSums;

/// Takes `count` samples, and as many that lie between them by filters of their own, which add to the energy only.
SAMPLE_LOOP void vectors_follow_bands(
    const BandFilterWeights *weights, BandPair *state, BandPair *between, BandSums *sums, const float *samples,
    const float *samples_between, long count);

/// Writes the sums of the channels of every `stride`-th frame from `first` on, up to `stop`: of samples of one channel
/// at least. Returns how many there are.
SAMPLE_LOOP long vectors_sum_channels(
    float *sums, const float *samples, long channels, long stride, long first, long stop);

/// The highest magnitudes of each fourth of `count` samples; those that are not a number do not count.
SAMPLE_LOOP float4 vectors_peaks_of_four(const float *samples, long count);

/// The same of x[n - stride] - 2 x[n] + x[n + stride], for the `count` samples x[n] from `samples` on.
SAMPLE_LOOP float4 vectors_second_differences(const float *samples, long stride, long count);

/// What is summed up over the samples of a channel.
typedef struct {
  double sum, squares;
  /// The highest magnitude; samples that are not a number do not count.
  float peak;
} ChannelSums;

/// Sums up `frames` interleaved frames: `sums` has one element for each channel.
SAMPLE_LOOP void vectors_sum_up(ChannelSums *sums, const float *samples, long frames, long channels);

/// Numbers of two channels in each of two second-order filter sections.
typedef struct {
  double2 first, second;
} SectionPair;

/// Two sections one behind the other, whose first coefficient is 1: the further ones of the numerators, and of the
/// denominators.
typedef struct {
  SectionPair b1, b2, a1, a2;
} SectionWeights;

/// Filters `count` samples of two channels, each `stride` behind the one before, in the transposed second direct form with
/// its two states `early` and `late`. Adds the squares of what comes out to `sums`, one after the other.
SAMPLE_LOOP void vectors_filtered_power(
    const SectionWeights *weights, SectionPair *early, SectionPair *late, double2 *sums, const float *left,
    const float *right, long stride, long count);

/// How peaks between samples are searched for (see InterpolationFilters.swift).
typedef struct {
  /// The filters and their approximations: of each pair of taps, for three positions, its weight eight times. 6 or 12
  /// pairs, and 2 or 3.
  const float *weights, *nearby;
  long pairs, nearby_pairs;
  /// What the nearer of two samples must be above, and an approximation, for the filters to be looked at.
  float4 least_samples, least_nearby;
} PeakSearch;

/// The higher of `known` and what lies between samples: `end` positions, at least one, of which the first belongs to the
/// samples from `windows` on, `stride` apart. Reads up to three samples before these. By four positions.
SAMPLE_LOOP float4 vectors_search_peaks(
    const PeakSearch *search, float4 known, const float *windows, long stride, long end);

#pragma clang assume_nonnull end
