// The C functions allowed on the audio thread, in addition to those of ALSA (see CALSA) and loops
// over samples (see CVectors). The compiler rejects all others in a function marked @_noLocks, so
// these lists are complete.
//
// To allow a function on the audio thread, read its source for locks, allocation and system calls,
// and then add it here.
#pragma once

#include "linux_calls.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"), always_inline)) static inline

#pragma clang assume_nonnull begin

/// Calls a function of a driver of unknown type. The compiler rejects a call through a Swift
/// function value, but this function can be marked. The function of each driver is marked and
/// checked separately.
REALTIME_SAFE void realtime_call(
    void (*function)(void *driver, const void *call, void *answer), void *driver, const void *call,
    void *answer) {
  function(driver, call, answer);
}

/// Returns the monotonic clock in nanoseconds. It is read through the vDSO, without a system call
/// if the kernel uses the TSC.
REALTIME_SAFE uint64_t realtime_host_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Returns the wall-clock time in nanoseconds since 1970, limited to the years 1970 to 2255 for any
/// setting of the clock, so that the time plus seven years fits in a signed 64-bit number.
static inline uint64_t host_wall_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (now.tv_sec < 0) return 0;
  if (now.tv_sec >= 9000000000) return 9000000000000000000u;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Rounds towards zero. The caller ensures that the value is in range. This is one instruction,
/// which the optimiser vectorises; Swift's conversion contains a branch to a trap.
REALTIME_SAFE int32_t realtime_truncated(float value) { return (int32_t)value; }

// Functions of libm. Sources read: glibc 2.36, sysdeps/ieee754:
// flt-32/{s_sinf,s_cosf,e_expf,e_logf,e_powf,s_tanhf,s_expm1f,math_errf}.c and
// dbl-64/{s_sin,branred,e_exp,e_log,e_pow,s_tanh,s_expm1,math_err}.c. They use polynomials and
// constant tables, and no locks, allocation or system calls. Out of range they set errno, which is
// thread-local. Measured at 2.6 GHz: 1 to 4 ns per call as float (tanhf 10) and 2 to 9 ns as
// double; sin and cos of 1e9, 33 ns.
REALTIME_SAFE float realtime_sinf(float x) { return sinf(x); }
REALTIME_SAFE float realtime_cosf(float x) { return cosf(x); }
REALTIME_SAFE float realtime_expf(float x) { return expf(x); }
REALTIME_SAFE float realtime_logf(float x) { return logf(x); }
REALTIME_SAFE float realtime_tanhf(float x) { return tanhf(x); }
REALTIME_SAFE float realtime_sqrtf(float x) { return sqrtf(x); }
REALTIME_SAFE float realtime_powf(float x, float y) { return powf(x, y); }
REALTIME_SAFE double realtime_sin(double x) { return sin(x); }
REALTIME_SAFE double realtime_cos(double x) { return cos(x); }
REALTIME_SAFE double realtime_exp(double x) { return exp(x); }
REALTIME_SAFE double realtime_log(double x) { return log(x); }
REALTIME_SAFE double realtime_tanh(double x) { return tanh(x); }
REALTIME_SAFE double realtime_sqrt(double x) { return sqrt(x); }
REALTIME_SAFE double realtime_pow(double x, double y) { return pow(x, y); }

/// Sets `count` bytes to 0.
REALTIME_SAFE void realtime_clear(void *target, long count) { memset(target, 0, (size_t)count); }

/// Loads and stores samples in memory of any alignment. Swift's generic loads are not yet proven.
REALTIME_SAFE uint8_t realtime_load8(const void *source) { return *(const uint8_t *)source; }

REALTIME_SAFE uint16_t realtime_load16(const void *source) {
  uint16_t value;
  memcpy(&value, source, sizeof value);
  return value;
}

REALTIME_SAFE uint32_t realtime_load32(const void *source) {
  uint32_t value;
  memcpy(&value, source, sizeof value);
  return value;
}

REALTIME_SAFE void realtime_store8(void *target, uint8_t value) { *(uint8_t *)target = value; }

REALTIME_SAFE void realtime_store16(void *target, uint16_t value) { memcpy(target, &value, sizeof value); }

REALTIME_SAFE void realtime_store32(void *target, uint32_t value) { memcpy(target, &value, sizeof value); }

/// The flag of mlockall that locks pages when they are touched; Swift's Glibc does not define it.
static const int realtime_lock_on_fault = 4;

// The marker functions of RealtimeSanitizer, defined only in a build that links its runtime.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));
extern void __rtsan_disable(void) __attribute__((weak));
extern void __rtsan_enable(void) __attribute__((weak));

/// From this call to `realtime_leave`, RealtimeSanitizer ends the program at an allocation, lock or
/// blocking call of this thread. Without the sanitizer, the cost is a test of a constant.
REALTIME_SAFE void realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

REALTIME_SAFE void realtime_leave(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

/// Disables the checks around the one call in a cycle that may block: the wait for the device.
REALTIME_SAFE void realtime_pause_watch(void) {
  if (__rtsan_disable) __rtsan_disable();
}

REALTIME_SAFE void realtime_resume_watch(void) {
  if (__rtsan_enable) __rtsan_enable();
}

/// Sleeps until the monotonic clock reaches `nanoseconds`, or a signal arrives. Simulated devices
/// wait with it; hardware is polled instead.
REALTIME_SAFE void realtime_sleep_until(uint64_t nanoseconds) {
  struct timespec until = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  realtime_pause_watch();
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  realtime_resume_watch();
}

#pragma clang assume_nonnull end
