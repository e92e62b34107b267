// Shared by the files of this module: vectors of eight, functions in two versions, and loops that
// several files use.
#pragma once

#include "CVectors.h"

#include <math.h>

// A product is rounded before it is added to a sum. Otherwise processors with fused multiply-add
// would return other sums than processors without.
#pragma STDC FP_CONTRACT OFF
// All functions with vector parameters are inlined, so two versions never need the same calling
// convention.
#pragma clang diagnostic ignored "-Wpsabi"

// The body of a loop, which is compiled into each of its versions.
#define BODY __attribute__((always_inline)) static inline

#ifdef __x86_64__
#include <immintrin.h>
#define FOR_AVX2 __attribute__((target("avx2")))
// Defines the function `name` with two versions of the body `name`_body.
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
typedef int16_t short8 __attribute__((ext_vector_type(8)));
typedef int16_t short16 __attribute__((ext_vector_type(16)));
// Vectors in memory of any alignment.
typedef float8 unaligned8 __attribute__((aligned(4)));
typedef short8 unaligned_short8 __attribute__((aligned(2)));
typedef short16 unaligned_short16 __attribute__((aligned(2)));

BODY float8 load8(const float *samples) { return *(const unaligned8 *)samples; }
BODY void store8(float *samples, float8 eight) { *(unaligned8 *)samples = eight; }
BODY double8 exact8(const float *samples) { return __builtin_convertvector(load8(samples), double8); }

BODY float8 magnitudes(float8 samples) { return (float8)((integer8)samples & 0x7FFFFFFF); }
// Returns `first` if it is higher than `second`, else `second`: also if `first` is NaN.
BODY float8 higher(float8 first, float8 second) { return first > second ? first : second; }

BODY float8 both(float4 lower, float4 upper) {
  return __builtin_shufflevector(lower, upper, 0, 1, 2, 3, 4, 5, 6, 7);
}

BODY float4 higher4(float8 eight) { return eight.lo > eight.hi ? eight.lo : eight.hi; }

// Returns the highest of eight values that are not NaN.
BODY float highest_of(float8 eight) {
  const float4 half = eight.lo > eight.hi ? eight.lo : eight.hi;
  const float low = half[0] > half[2] ? half[0] : half[2], high = half[1] > half[3] ? half[1] : half[3];
  return low > high ? low : high;
}

// Returns the highest magnitudes of every eighth of `count` samples, up to the last whole group of
// eight; advances `index` past these samples.
BODY float8 peaks_of_eights(const float *samples, long count, long *index) {
  float8 first = 0, second = 0;
#pragma clang loop unroll_count(2)
  for (; *index + 32 <= count; *index += 32) {
    first = higher(magnitudes(load8(samples + *index)), first);
    second = higher(magnitudes(load8(samples + *index + 8)), second);
    first = higher(magnitudes(load8(samples + *index + 16)), first);
    second = higher(magnitudes(load8(samples + *index + 24)), second);
  }
  for (; *index + 8 <= count; *index += 8) first = higher(magnitudes(load8(samples + *index)), first);
  return higher(first, second);
}

// Returns the bits of eight magnitudes. As integers they are in the order of the magnitudes, and
// those of NaN are the highest.
BODY integer8 magnitude_bits(const float *samples) { return (integer8)load8(samples) & 0x7FFFFFFF; }
BODY integer8 higher_bits(integer8 first, integer8 second) { return first > second ? first : second; }

BODY float vectors_peak_or_nan_body(const float *samples, long count) {
  integer8 first = 0, second = 0;
  long index = 0;
  for (; index + 32 <= count; index += 32) {
    first = higher_bits(magnitude_bits(samples + index), first);
    second = higher_bits(magnitude_bits(samples + index + 8), second);
    first = higher_bits(magnitude_bits(samples + index + 16), first);
    second = higher_bits(magnitude_bits(samples + index + 24), second);
  }
  for (; index + 8 <= count; index += 8) first = higher_bits(magnitude_bits(samples + index), first);
  int32_t highest = __builtin_reduce_max(higher_bits(first, second));
  for (; index < count; index++) {
    int32_t bits;
    memcpy(&bits, samples + index, sizeof bits);
    bits &= 0x7FFFFFFF;
    if (bits > highest) highest = bits;
  }
  float peak;
  memcpy(&peak, &highest, sizeof peak);
  return peak;
}

BODY void vectors_scale_body(float *samples, float gain, long count) {
  const long whole = count & ~31L;
  long index = 0;
  for (; index < whole; index += 32) {
    store8(samples + index, load8(samples + index) * gain);
    store8(samples + index + 8, load8(samples + index + 8) * gain);
    store8(samples + index + 16, load8(samples + index + 16) * gain);
    store8(samples + index + 24, load8(samples + index + 24) * gain);
  }
  for (; index + 8 <= count; index += 8) store8(samples + index, load8(samples + index) * gain);
  for (; index < count; index++) samples[index] *= gain;
}
