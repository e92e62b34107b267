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

/// Writes the sums of the channels of every `stride`-th frame from `first` on, up to `stop`: of samples of one channel
/// at least. Returns how many there are.
SAMPLE_LOOP long vectors_sum_channels(
    float *sums, const float *samples, long channels, long stride, long first, long stop);

#pragma clang assume_nonnull end
