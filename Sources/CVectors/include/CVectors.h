// Arithmetic on several samples at once.
//
// The vector types of the compiler: an operation on four floats is one instruction, on four doubles
// two. Swift's standard library computes element by element, and relies on the optimiser to
// vectorise.
//
// Loops over samples are compiled twice: for every processor of the architecture, and for
// processors with AVX2, which process eight floats at once. Each call selects a version by the
// features that the processor reports. Both versions round every result in the same way, so their
// samples are identical bit for bit.
#pragma once

#include <stdint.h>
#include <string.h>

#define VECTOR_FUNCTION __attribute__((swift_attr("@_noLocks"), always_inline, const)) static inline
// Marks the functions of this module's C files, which only compute on the memory passed to them.
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

/// Returns the four numbers in units of 1/1024. They must be multiples of 1/1024, with magnitudes
/// of at most 4096.
VECTOR_FUNCTION integer4 float4_in_1024ths(float4 numbers) {
  // Floats from 8192 to 16384 are multiples of 1/1024.
  typedef int32_t bits4 __attribute__((ext_vector_type(4)));
  const float4 large = 12288;
  return __builtin_convertvector((bits4)(numbers + large) - (bits4)large, integer4);
}

/// Converts four whole numbers, whose magnitudes must be below 2^51.
VECTOR_FUNCTION double4 integer4_as_double4(integer4 numbers) {
  // Doubles from 2^52 to 2^53 are multiples of 1.
  const double4 large = 0x1.8p52;
  return (double4)((integer4)large + numbers) - large;
}

/// Returns the highest magnitude of `count` samples; NaN is ignored.
SAMPLE_LOOP float vectors_peak(const float *samples, long count);

/// Updates the levels of `channels` interleaved channels with `count` samples, a multiple of
/// `channels`: the first `channels` values of `levels` are the highest magnitudes, the next
/// `channels` the sums of squares. Returns the highest magnitude of these samples. NaN has no
/// magnitude.
SAMPLE_LOOP float vectors_measure(float *levels, const float *samples, long channels, long count);

/// Returns the highest magnitude of `count` samples; NaN if one of them is NaN.
SAMPLE_LOOP float vectors_peak_or_nan(const float *samples, long count);

/// Multiplies `count` samples by `gain`.
SAMPLE_LOOP void vectors_scale(float *samples, float gain, long count);

/// Adds `count` samples of `added` to those of `target`. The two memory areas must not overlap.
SAMPLE_LOOP void vectors_add(float *target, const float *added, long count);

/// Multiplies `frames` frames by a gain that is `gain` in the first frame and increases by `step`
/// per frame.
SAMPLE_LOOP void vectors_ramp(float *samples, long channels, long frames, float gain, float step);

/// Returns the number of frames, of `frames`, with a sample whose magnitude is above `limit`.
SAMPLE_LOOP long vectors_frames_above(const float *samples, long channels, long frames, float limit);

/// The state of a limiter.
typedef struct {
  /// The highest magnitude that passes unchanged, and the slightly lower one that a higher
  /// magnitude is reduced to.
  float limit, brought_to;
  /// The increase of the gain per frame, the highest gain that it may reach, and the current gain.
  float step, target, gain;
} LimiterGain;

/// The factor that lowers a limit before it is divided by a peak, so that the rounded product of the
/// quotient and the peak is not above the limit.
static const float limiter_margin = 0.999999f;

/// The smallest increase of a gain that is not lost in rounding.
static const float limiter_minimum_step = 0.00000012f;

/// What a limiter found in a block of frames.
typedef struct {
  /// The highest magnitude before the gain; NaN if a sample is NaN.
  float peak;
  /// The number of frames above the limit.
  long above;
} LimitedBlock;

/// Multiplies the frames of a block by the gain, which rises linearly. If that is too high for a
/// frame, the gain and the target decrease to what each frame requires. A block whose peak is NaN
/// or infinite remains unchanged.
SAMPLE_LOOP LimitedBlock vectors_limit_block(
    LimiterGain *limiter, float *samples, long channels, long frames);

/// Copies `count` samples to memory that does not overlap. The C library selects the fastest
/// version.
__attribute__((swift_attr("@_noLocks"), always_inline)) static inline void vectors_copy(
    float *target, const float *source, long count) {
  memcpy(target, source, (size_t)count * sizeof(float));
}

/// Writes `count` samples as 16-bit integers, rounded to the nearest (ties to even) and saturated;
/// NaN becomes 0. Returns the number of NaN samples.
SAMPLE_LOOP long vectors_encode16(int16_t *target, const float *source, long count);

/// Writes samples as 32-bit integers in the same way; they saturate at 2147483520, the highest
/// float below 2^31.
SAMPLE_LOOP long vectors_encode32(int32_t *target, const float *source, long count);

/// Converts `count` 16-bit integers to samples from -1 to below 1.
SAMPLE_LOOP void vectors_decode16(float *target, const int16_t *source, long count);

/// Does the same, and returns the highest magnitude of the samples.
SAMPLE_LOOP float vectors_decode16_and_measure(float *target, const int16_t *source, long count);

/// Writes `count` weights, a multiple of 8, to a row as described in WeightRow.swift: the sum of
/// four rows of a table, which are `stride` samples apart, each multiplied by its factor.
SAMPLE_LOOP void vectors_mix_weights(
    float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
    double third_factor, double fourth_factor);

/// Returns the sum of `count` products of a row of weights and samples; `count` is a multiple of 8.
SAMPLE_LOOP float vectors_inner_product(const float *weights, const float *samples, long count);

/// Computes the same for two rows of samples with the same weights.
SAMPLE_LOOP void vectors_inner_products(
    const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum);

/// Two numbers for each of four band-pass filters: one for its band-pass and one for its low-pass
/// output (see BandFilters.swift).
typedef struct {
  float4 band, low;
} BandPair;

/// The coefficients of four band-pass filters for a step of eight samples.
typedef struct {
  /// The factors of the states of the filters over the first seven samples: those of each filter's
  /// own state, and those of the other state of the same band.
  BandPair of_same, of_other;
  /// The weights with which each of the seven samples is added to both states.
  BandPair of_sample[7];
  /// The coefficients for the eighth sample.
  float4 a1, a2, g, damping;
} BandFilterWeights;

/// Filters `count` groups of eight samples. Adds the energy in the bands at every eighth sample to
/// `energy`.
SAMPLE_LOOP void vectors_filter_bands(
    const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count);

/// Sums over the outputs of four band-passes: the energies in the bands, the products of each
/// output and the previous one, and the squares of the outputs; and the previous output.
typedef struct {
  float4 energy, products, squares, before;
} BandSums;

/// Filters `count` samples, and with the states `between` the `count` samples between them, which
/// are added to the energy only.
SAMPLE_LOOP void vectors_follow_bands(
    const BandFilterWeights *weights, BandPair *state, BandPair *between, BandSums *sums, const float *samples,
    const float *samples_between, long count);

/// Writes the sums of one or two channels of `count` frames, a multiple of eight, which are two
/// frames apart.
SAMPLE_LOOP void vectors_sum_every_other(float *sums, const float *samples, long channels, long count);

/// Does the same, and returns the highest magnitude of these frames and of those between them, the
/// last one included; NaN is ignored.
SAMPLE_LOOP float vectors_sum_and_measure(float *sums, const float *samples, long channels, long count);

/// Writes the sums of one or two channels of the frames with even numbers to `sums`, and of those
/// with odd numbers to `between`: `count` of each, a multiple of eight.
SAMPLE_LOOP void vectors_sum_alternately(
    float *sums, float *between, const float *samples, long channels, long count);

/// Returns the highest magnitudes of every fourth of `count` samples; NaN is ignored.
SAMPLE_LOOP float4 vectors_peaks_of_four(const float *samples, long count);

/// Returns the same for x[n - stride] - 2 x[n] + x[n + stride], with `count` samples x[n] from
/// `samples` on.
SAMPLE_LOOP float4 vectors_second_differences(const float *samples, long stride, long count);

/// The sums over the samples of a channel.
typedef struct {
  double sum, squares;
  /// The highest magnitude; NaN is ignored.
  float peak;
} ChannelSums;

/// Computes the sums of `frames` interleaved frames; `sums` has one element per channel.
SAMPLE_LOOP void vectors_sum_up(ChannelSums *sums, const float *samples, long frames, long channels);

/// Numbers of two channels in each of two second-order filter sections.
typedef struct {
  double2 first, second;
} SectionPair;

/// The coefficients of two sections in series whose coefficient b0 is 1: the other coefficients of
/// the numerators and of the denominators.
typedef struct {
  SectionPair b1, b2, a1, a2;
} SectionWeights;

/// Filters `count` samples of two channels, which are `stride` apart, in the transposed direct form
/// II with the states `early` and `late`. Adds the squares of the output to `sums`, one after the
/// other.
SAMPLE_LOOP void vectors_filtered_power(
    const SectionWeights *weights, SectionPair *early, SectionPair *late, double2 *sums, const float *left,
    const float *right, long stride, long count);

/// The parameters of a search for peaks between samples (see InterpolationFilters.swift).
typedef struct {
  /// The coefficients of the filters and of their approximations: for each pair of taps the weights
  /// of three positions, each repeated eight times. There are 6 or 12 pairs, and 2 pairs.
  const float *weights, *nearby;
  long pairs;
  /// The thresholds that one of the two nearest samples, and an approximation, must exceed before
  /// the filters are evaluated.
  float4 minimum_samples, minimum_nearby;
} PeakSearch;

/// Returns the higher of `known` and the interpolated values of `end` windows, at least one. The
/// first window begins at `windows`, and its samples are `stride` apart. Windows are processed in
/// groups of four or eight, one per lane, so up to three samples before `windows` are read.
SAMPLE_LOOP float4 vectors_search_peaks(
    const PeakSearch *search, float4 known, const float *windows, long stride, long end);

/// The parameters of a search in 16 bits, for sounds whose samples are all near a peak, such as
/// noise.
typedef struct {
  /// The coefficients of the filters, as in `PeakSearch`, and the same from
  /// `vectors_round_weights`.
  const float *weights;
  const int16_t *rounded_weights;
  long pairs;
  /// The L1 norm of the filter for the position in the middle without its `VECTORS_ROUGH_PAIRS`
  /// pairs of taps in the middle, and that of the filters for the positions around it.
  float outer_norm_of_middle, outer_norm_around;
} RoughPeakSearch;

/// The number of pairs of taps that are evaluated first.
#define VECTORS_ROUGH_PAIRS 4

/// The largest distance of the samples of a window for a search in 16 bits.
#define VECTORS_MAXIMUM_ROUGH_STRIDE 8

/// Writes three rounded weights for each of `pairs` pairs of taps.
SAMPLE_LOOP void vectors_round_weights(int16_t *rounded, const float *weights, long pairs);

/// Returns the same as `vectors_search_peaks`. No magnitude of the samples is above `bounds`, which
/// must be finite, each weight is below 1, and the L1 norm of each filter is below 4. Sixteen
/// windows at once are first evaluated with rounded samples and weights; the filters are evaluated
/// if that may be above `known`.
SAMPLE_LOOP float4 vectors_search_rough_peaks(
    const RoughPeakSearch *search, float4 known, float4 bounds, const float *windows, long stride, long end);

#pragma clang assume_nonnull end
