#include "CVectors.h"

#include <math.h>

// A product is rounded before it is added to a sum: processors that can do both in one instruction would give
// another sum than those that cannot.
#pragma STDC FP_CONTRACT OFF
// Functions that take vectors are inlined, all of them: no two versions have to agree on how to pass one.
#pragma clang diagnostic ignored "-Wpsabi"

// What a loop does, in each of its versions.
#define BODY __attribute__((always_inline)) static inline

#ifdef __x86_64__
#include <immintrin.h>
#define FOR_AVX2 __attribute__((target("avx2")))
// Defines the function `name` with two versions of the body of that name.
#define TWO_VERSIONS(result, name, declaration, ...) \
  FOR_AVX2 static result name##_avx2 declaration { return name##_body(__VA_ARGS__); } \
  static result name##_sse2 declaration { return name##_body(__VA_ARGS__); } \
  result name declaration { \
    return __builtin_cpu_supports("avx2") ? name##_avx2(__VA_ARGS__) : name##_sse2(__VA_ARGS__); \
  }
#else
#define TWO_VERSIONS(result, name, declaration, ...) \
  result name declaration { return name##_body(__VA_ARGS__); }
#endif

typedef float float8 __attribute__((ext_vector_type(8)));
typedef double double8 __attribute__((ext_vector_type(8)));
typedef int32_t integer8 __attribute__((ext_vector_type(8)));
// In memory of any alignment.
typedef float8 unaligned8 __attribute__((aligned(4)));

BODY float8 load8(const float *samples) { return *(const unaligned8 *)samples; }
BODY void store8(float *samples, float8 eight) { *(unaligned8 *)samples = eight; }

BODY float8 magnitudes(float8 samples) { return (float8)((integer8)samples & 0x7FFFFFFF); }
// The first of both where it is the higher one, else the second: also where the first is not a number.
BODY float8 higher(float8 first, float8 second) { return first > second ? first : second; }

BODY float vectors_peak_body(const float *samples, long count) {
  float8 first = 0, second = 0;
  long index = 0;
  for (; index + 32 <= count; index += 32) {
    first = higher(magnitudes(load8(samples + index)), first);
    second = higher(magnitudes(load8(samples + index + 8)), second);
    first = higher(magnitudes(load8(samples + index + 16)), first);
    second = higher(magnitudes(load8(samples + index + 24)), second);
  }
  for (; index + 8 <= count; index += 8) first = higher(magnitudes(load8(samples + index)), first);
  first = higher(first, second);
  float4 half = first.lo > first.hi ? first.lo : first.hi;
  float low = half[0] > half[2] ? half[0] : half[2], high = half[1] > half[3] ? half[1] : half[3];
  float peak = low > high ? low : high;
  for (; index < count; index++) {
    float magnitude = fabsf(samples[index]);
    if (magnitude > peak) peak = magnitude;
  }
  return peak;
}
TWO_VERSIONS(float, vectors_peak, (const float *samples, long count), samples, count)

BODY void vectors_scale_body(float *samples, float gain, long count) {
  long index = 0;
  for (; index + 32 <= count; index += 32) {
    store8(samples + index, load8(samples + index) * gain);
    store8(samples + index + 8, load8(samples + index + 8) * gain);
    store8(samples + index + 16, load8(samples + index + 16) * gain);
    store8(samples + index + 24, load8(samples + index + 24) * gain);
  }
  for (; index + 8 <= count; index += 8) store8(samples + index, load8(samples + index) * gain);
  for (; index < count; index++) samples[index] *= gain;
}
TWO_VERSIONS(void, vectors_scale, (float *samples, float gain, long count), samples, gain, count)

BODY void vectors_add_body(float *target, const float *added, long count) {
  long index = 0;
  for (; index + 32 <= count; index += 32) {
    store8(target + index, load8(target + index) + load8(added + index));
    store8(target + index + 8, load8(target + index + 8) + load8(added + index + 8));
    store8(target + index + 16, load8(target + index + 16) + load8(added + index + 16));
    store8(target + index + 24, load8(target + index + 24) + load8(added + index + 24));
  }
  for (; index + 8 <= count; index += 8) store8(target + index, load8(target + index) + load8(added + index));
  for (; index < count; index++) target[index] += added[index];
}
TWO_VERSIONS(void, vectors_add, (float *target, const float *added, long count), target, added, count)

// To the nearest integer, of two the even one.
#ifdef __x86_64__
BODY int32_t rounded(float sample) { return _mm_cvtss_si32(_mm_set_ss(sample)); }
#else
BODY int32_t rounded(float sample) { return (int32_t)lrintf(sample); }
#endif

// One sample at a time. Returns how many samples are not a number.
BODY long encode16_rest(int16_t *target, const float *source, long count) {
  long found = 0;
  for (long index = 0; index < count; index++) {
    int is_number = source[index] == source[index];
    float scaled = is_number ? source[index] * 32768 : 0;
    scaled = scaled < -32768 ? -32768 : scaled > 32767 ? 32767 : scaled;
    target[index] = (int16_t)rounded(scaled);
    found += !is_number;
  }
  return found;
}

BODY long encode32_rest(int32_t *target, const float *source, long count) {
  long found = 0;
  for (long index = 0; index < count; index++) {
    int is_number = source[index] == source[index];
    float scaled = is_number ? source[index] * 0x1p31f : 0;
    scaled = scaled < -0x1p31f ? -0x1p31f : scaled > 2147483520 ? 2147483520 : scaled;
    target[index] = rounded(scaled);
    found += !is_number;
  }
  return found;
}

#ifdef __x86_64__
// What lies below the lowest of 16 bits needs no bound: it becomes the lowest of 32 bits at least, and that is packed
// as the lowest of 16. What is not a number is looked for in all samples together, and hardly ever found: then they
// are written one by one.
FOR_AVX2 static long vectors_encode16_avx2(int16_t *target, const float *source, long count) {
  const __m256 scale = _mm256_set1_ps(32768), highest = _mm256_set1_ps(32767);
  __m256 unordered = _mm256_setzero_ps();
  long index = 0;
  for (; index + 16 <= count; index += 16) {
    __m256 first = _mm256_loadu_ps(source + index), second = _mm256_loadu_ps(source + index + 8);
    unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(first, second, _CMP_UNORD_Q));
    first = _mm256_min_ps(_mm256_mul_ps(first, scale), highest);
    second = _mm256_min_ps(_mm256_mul_ps(second, scale), highest);
    __m256i whole = _mm256_packs_epi32(_mm256_cvtps_epi32(first), _mm256_cvtps_epi32(second));
    _mm256_storeu_si256((__m256i *)(target + index), _mm256_permute4x64_epi64(whole, 0xD8));
  }
  if (_mm256_movemask_ps(unordered)) index = 0;
  return encode16_rest(target + index, source + index, count - index);
}

static long vectors_encode16_sse2(int16_t *target, const float *source, long count) {
  const __m128 scale = _mm_set1_ps(32768), highest = _mm_set1_ps(32767);
  __m128 unordered = _mm_setzero_ps();
  long index = 0;
  for (; index + 8 <= count; index += 8) {
    __m128 first = _mm_loadu_ps(source + index), second = _mm_loadu_ps(source + index + 4);
    unordered = _mm_or_ps(unordered, _mm_cmpunord_ps(first, second));
    first = _mm_min_ps(_mm_mul_ps(first, scale), highest);
    second = _mm_min_ps(_mm_mul_ps(second, scale), highest);
    __m128i whole = _mm_packs_epi32(_mm_cvtps_epi32(first), _mm_cvtps_epi32(second));
    _mm_storeu_si128((__m128i *)(target + index), whole);
  }
  if (_mm_movemask_ps(unordered)) index = 0;
  return encode16_rest(target + index, source + index, count - index);
}

FOR_AVX2 static long vectors_encode32_avx2(int32_t *target, const float *source, long count) {
  const __m256 scale = _mm256_set1_ps(0x1p31f), highest = _mm256_set1_ps(2147483520);
  const __m256 lowest = _mm256_set1_ps(-0x1p31f);
  __m256 unordered = _mm256_setzero_ps();
  long index = 0;
  for (; index + 8 <= count; index += 8) {
    __m256 samples = _mm256_loadu_ps(source + index);
    unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(samples, samples, _CMP_UNORD_Q));
    samples = _mm256_max_ps(_mm256_min_ps(_mm256_mul_ps(samples, scale), highest), lowest);
    _mm256_storeu_si256((__m256i *)(target + index), _mm256_cvtps_epi32(samples));
  }
  if (_mm256_movemask_ps(unordered)) index = 0;
  return encode32_rest(target + index, source + index, count - index);
}

static long vectors_encode32_sse2(int32_t *target, const float *source, long count) {
  const __m128 scale = _mm_set1_ps(0x1p31f), highest = _mm_set1_ps(2147483520), lowest = _mm_set1_ps(-0x1p31f);
  __m128 unordered = _mm_setzero_ps();
  long index = 0;
  for (; index + 4 <= count; index += 4) {
    __m128 samples = _mm_loadu_ps(source + index);
    unordered = _mm_or_ps(unordered, _mm_cmpunord_ps(samples, samples));
    samples = _mm_max_ps(_mm_min_ps(_mm_mul_ps(samples, scale), highest), lowest);
    _mm_storeu_si128((__m128i *)(target + index), _mm_cvtps_epi32(samples));
  }
  if (_mm_movemask_ps(unordered)) index = 0;
  return encode32_rest(target + index, source + index, count - index);
}

long vectors_encode16(int16_t *target, const float *source, long count) {
  return __builtin_cpu_supports("avx2") ? vectors_encode16_avx2(target, source, count)
                                        : vectors_encode16_sse2(target, source, count);
}

long vectors_encode32(int32_t *target, const float *source, long count) {
  return __builtin_cpu_supports("avx2") ? vectors_encode32_avx2(target, source, count)
                                        : vectors_encode32_sse2(target, source, count);
}
#else
long vectors_encode16(int16_t *target, const float *source, long count) {
  return encode16_rest(target, source, count);
}

long vectors_encode32(int32_t *target, const float *source, long count) {
  return encode32_rest(target, source, count);
}
#endif

BODY void vectors_decode16_body(float *target, const int16_t *source, long count) {
  typedef int16_t short8 __attribute__((ext_vector_type(8)));
  typedef short8 unaligned_short8 __attribute__((aligned(2)));
  long index = 0;
  for (; index + 8 <= count; index += 8) {
    short8 whole = *(const unaligned_short8 *)(source + index);
    store8(target + index, __builtin_convertvector(whole, float8) * 0x1p-15f);
  }
  for (; index < count; index++) target[index] = (float)source[index] * 0x1p-15f;
}
TWO_VERSIONS(void, vectors_decode16, (float *target, const int16_t *source, long count), target, source, count)

// The eight in the middle of `count` weights, as WeightRow.swift has it.
BODY long middle_of(long count) { return count / 2 - 4; }
BODY double8 exact8(const float *samples) { return __builtin_convertvector(load8(samples), double8); }

BODY void vectors_mix_weights_body(
    float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
    double third_factor, double fourth_factor) {
  const float one = (float)first_factor, two = (float)second_factor;
  const float three = (float)third_factor, four = (float)fourth_factor;
  const float *second = rows + stride, *third = second + stride, *fourth = third + stride;
  for (long index = 0; index < count; index += 8) {
    const float8 early = one * load8(rows + index) + two * load8(second + index);
    const float8 late = three * load8(third + index) + four * load8(fourth + index);
    store8(weights + index, early + late);
  }
  // The outer two rows weigh a sixteenth at most: 24 bits do.
  const float8 outer = one * load8(rows + count) + four * load8(fourth + count);
  const double8 inner = second_factor * exact8(second + count) + third_factor * exact8(third + count);
  const double8 exact = inner + __builtin_convertvector(outer, double8);
  const float8 rounded = __builtin_convertvector(exact, float8);
  const float8 rest = __builtin_convertvector(exact - __builtin_convertvector(rounded, double8), float8);
  store8(weights + count, rounded);
  float *middle = weights + middle_of(count);
  store8(middle, load8(middle) + rest);
}
TWO_VERSIONS(
    void, vectors_mix_weights,
    (float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
     double third_factor, double fourth_factor),
    weights, rows, stride, count, first_factor, second_factor, third_factor, fourth_factor)

BODY float total(float8 sums, double8 middle) {
  const float4 four = sums.lo + sums.hi;
  const double4 exact = middle.lo + middle.hi;
  const double low = exact[0] + exact[2], high = exact[1] + exact[3];
  return (float)((double)((four[0] + four[2]) + (four[1] + four[3])) + (low + high));
}

BODY float vectors_inner_product_body(const float *weights, const float *samples, long count) {
  float8 sum = 0;
  for (long index = 0; index < count; index += 8) sum += load8(weights + index) * load8(samples + index);
  return total(sum, exact8(weights + count) * exact8(samples + middle_of(count)));
}
TWO_VERSIONS(
    float, vectors_inner_product, (const float *weights, const float *samples, long count), weights, samples, count)

BODY void vectors_inner_products_body(
    const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum) {
  float8 left = 0, right = 0;
  for (long index = 0; index < count; index += 8) {
    const float8 weight = load8(weights + index);
    left += weight * load8(first + index);
    right += weight * load8(second + index);
  }
  const double8 middle = exact8(weights + count);
  *first_sum = total(left, middle * exact8(first + middle_of(count)));
  *second_sum = total(right, middle * exact8(second + middle_of(count)));
}
TWO_VERSIONS(
    void, vectors_inner_products,
    (const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum),
    weights, first, second, count, first_sum, second_sum)

BODY float8 both(float4 lower, float4 upper) {
  return __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7);
}

BODY float8 of_pair(const BandPair *pair) { return load8((const float *)pair); }

BODY void vectors_filter_bands_body(
    const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count) {
  const float4 a1 = weights->a1, a2 = weights->a2, g = weights->g, damping = weights->damping;
  const float8 of_band = of_pair(&weights->of_band), of_low = of_pair(&weights->of_low);
  // Of each vector of eight, the lower half belongs to the band-passes and the upper one to the low-passes.
  float8 present = of_pair(state);
  float4 sum = 0;
  for (; count > 0; count--) {
    float8 next = of_band * both(present.lo, present.lo) + of_low * both(present.hi, present.hi);
#pragma clang loop unroll(full)
    for (int index = 0; index < 7; index++) next += of_pair(&weights->of_sample[index]) * samples[index];
    // As BandFilters.step.
    const float4 sample = samples[7];
    const float4 band = a1 * next.lo + a2 * (sample - next.hi);
    const float4 low = next.hi + g * band;
    const float4 high = sample - damping * band - low;
    sum += band * band - high * low;
    present = both(band + band, low + low) - next;
    samples += 8;
  }
  store8((float *)state, present);
  *energy += sum;
}
TWO_VERSIONS(
    void, vectors_filter_bands,
    (const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count),
    weights, state, energy, samples, count)

// The sums of the two channels of eight frames, each two frames after the one before.
BODY float8 sums_of_every_other(const float *samples) {
  const float8 first = load8(samples), second = load8(samples + 8);
  const float8 third = load8(samples + 16), fourth = load8(samples + 24);
  const float8 early = __builtin_shufflevector(first, second, 0, 1, 8, 9, 4, 5, 12, 13);
  const float8 late = __builtin_shufflevector(third, fourth, 0, 1, 8, 9, 4, 5, 12, 13);
  const float8 left = __builtin_shufflevector(early, late, 0, 2, 8, 10, 4, 6, 12, 14);
  const float8 right = __builtin_shufflevector(early, late, 1, 3, 9, 11, 5, 7, 13, 15);
  const float8 sums = left + right;
  return __builtin_shufflevector(sums, sums, 0, 4, 1, 5, 2, 6, 3, 7);
}

BODY long vectors_sum_channels_body(
    float *sums, const float *samples, long channels, long stride, long first, long stop) {
  long count = 0, frame = first;
  if (channels == 2 && stride == 2) {
    // The last of 16 frames is not looked at, but read.
    for (; frame + 16 <= stop; frame += 16, count += 8) {
      store8(sums + count, sums_of_every_other(samples + 2 * frame));
    }
  }
  for (; frame < stop; frame += stride, count++) {
    const float *channel = samples + channels * frame;
    float sum = channel[0];
    for (long index = 1; index < channels; index++) sum += channel[index];
    sums[count] = sum;
  }
  return count;
}
TWO_VERSIONS(
    long, vectors_sum_channels,
    (float *sums, const float *samples, long channels, long stride, long first, long stop), sums, samples, channels,
    stride, first, stop)
