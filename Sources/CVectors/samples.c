// Gains, sums and sample formats.
#include "vectors.h"

BODY float vectors_peak_body(const float *samples, long count) {
  long index = 0;
  float peak = highest_of(peaks_of_eights(samples, count, &index));
  for (; index < count; index++) {
    float magnitude = fabsf(samples[index]);
    if (magnitude > peak) peak = magnitude;
  }
  return peak;
}
TWO_VERSIONS(float, vectors_peak, (const float *samples, long count), samples, count)

TWO_VERSIONS(float, vectors_peak_or_nan, (const float *samples, long count), samples, count)

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

// Rounds to the nearest integer, ties to even.
#ifdef __x86_64__
BODY int32_t rounded(float sample) { return _mm_cvtss_si32(_mm_set_ss(sample)); }
#else
BODY int32_t rounded(float sample) { return (int32_t)lrintf(sample); }
#endif

// Converts one sample at a time. Returns the number of NaN samples.
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
// Values below the lowest 16-bit integer need no limit: they become a 32-bit integer that is not
// higher, which is packed as the lowest 16-bit integer. NaN is rare, so all samples are checked for
// it together; if one is found, all samples are converted one by one.
FOR_AVX2 static long vectors_encode16_avx2(int16_t *target, const float *source, long count) {
  const __m256 scale = _mm256_set1_ps(32768), highest = _mm256_set1_ps(32767);
  __m256 unordered = _mm256_setzero_ps();
  long index = 0;
#pragma clang loop unroll_count(2)
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

typedef uint16_t unsigned16 __attribute__((ext_vector_type(16)));

BODY void decode_eight(float *target, const int16_t *source) {
  store8(target, __builtin_convertvector(*(const unaligned_short8 *)source, float8) * 0x1p-15f);
}

// Returns the highest magnitude of the integers if it `measures` them.
BODY int decode_sixteens(int measures, float *target, const int16_t *source, long count) {
  unsigned16 highest = 0;
  long index = 0;
#pragma clang loop unroll_count(2)
  for (; index + 16 <= count; index += 16) {
    if (measures) {
      // The magnitude of the lowest integer fits in an unsigned one.
      const short16 sixteen = *(const unaligned_short16 *)(source + index);
      highest = __builtin_elementwise_max(highest, (unsigned16)__builtin_elementwise_abs(sixteen));
    }
    decode_eight(target + index, source + index);
    decode_eight(target + index + 8, source + index + 8);
  }
  int peak = __builtin_reduce_max(highest);
  for (; index < count; index++) {
    target[index] = (float)source[index] * 0x1p-15f;
    const int magnitude = source[index] < 0 ? -source[index] : source[index];
    if (magnitude > peak) peak = magnitude;
  }
  return peak;
}

BODY void vectors_decode16_body(float *target, const int16_t *source, long count) {
  decode_sixteens(0, target, source, count);
}
TWO_VERSIONS(void, vectors_decode16, (float *target, const int16_t *source, long count), target, source, count)

BODY float vectors_decode16_and_measure_body(float *target, const int16_t *source, long count) {
  return (float)decode_sixteens(1, target, source, count) * 0x1p-15f;
}
TWO_VERSIONS(
    float, vectors_decode16_and_measure, (float *target, const int16_t *source, long count), target, source, count)
