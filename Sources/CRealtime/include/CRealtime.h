// The C calls allowed on the audio thread, apart from ALSA's (see CALSA). The compiler refuses
// every other one in a function marked @_noLocks, so this list is the whole of it.
//
// To bless a call: read its source for locks, allocation and system calls; then add it here.
#pragma once

#include "linux_calls.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLESSED __attribute__((swift_attr("@_noLocks"), always_inline)) static inline

/// The monotonic clock in nanoseconds. A vDSO read: no system call where the kernel trusts its TSC.
BLESSED uint64_t realtime_host_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// What the clock on the wall shows, in nanoseconds since 1970: from 1970 to 2255 where it is set to
/// another year, so that the sum with seven years more still fits in a signed number of 64 bits.
static inline uint64_t host_wall_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec < 0) return 0;
  if (now.tv_sec >= 9000000000) return 9000000000000000000u;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Towards zero. The caller has brought the value into range; one instruction, which the optimiser
/// turns into vectors, where Swift's conversion must branch to trap.
BLESSED int32_t realtime_truncated(float value) { return (int32_t)value; }

/// Rounds eight values, which the caller has brought into range, to the nearest integers.
BLESSED void realtime_round8(int32_t *target, const float *source) {
#ifdef __SSE2__
  _mm_storeu_si128((__m128i *)target, _mm_cvtps_epi32(_mm_loadu_ps(source)));
  _mm_storeu_si128((__m128i *)(target + 4), _mm_cvtps_epi32(_mm_loadu_ps(source + 4)));
#else
  for (int lane = 0; lane < 8; lane++) target[lane] = (int32_t)lrintf(source[lane]);
#endif
}

/// Copies `count` samples that do not overlap.
BLESSED void realtime_copy(float *target, const float *source, long count) {
  memcpy(target, source, (size_t)count * sizeof(float));
}

/// Clears `count` bytes.
BLESSED void realtime_clear(void *target, long count) { memset(target, 0, (size_t)count); }

/// Samples from and to memory of any alignment, which Swift's generic loads are not yet proven for.
BLESSED uint8_t realtime_load8(const void *source) { return *(const uint8_t *)source; }

BLESSED uint16_t realtime_load16(const void *source) {
  uint16_t value;
  memcpy(&value, source, sizeof value);
  return value;
}

BLESSED uint32_t realtime_load32(const void *source) {
  uint32_t value;
  memcpy(&value, source, sizeof value);
  return value;
}

BLESSED void realtime_store8(void *target, uint8_t value) { *(uint8_t *)target = value; }

BLESSED void realtime_store16(void *target, uint16_t value) { memcpy(target, &value, sizeof value); }

BLESSED void realtime_store32(void *target, uint32_t value) { memcpy(target, &value, sizeof value); }

/// mlockall's flag for locking pages when they are touched; Swift's Glibc does not know it.
static const int realtime_lock_on_fault = 4;

/// Sleeps until the monotonic clock shows `nanoseconds`, or a signal comes. Simulated devices wait
/// with it where hardware would be polled.
BLESSED void realtime_sleep_until(uint64_t nanoseconds) {
  struct timespec until = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

// RealtimeSanitizer's marks, present only in a build that links its runtime.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));

/// From here to `realtime_leave`, RealtimeSanitizer ends the program at an allocation, lock or
/// blocking call of this thread. Costs a test of a constant where the sanitizer is not linked.
BLESSED void realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

BLESSED void realtime_leave(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}
