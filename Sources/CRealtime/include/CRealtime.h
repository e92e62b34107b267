// The C calls allowed on the audio thread, apart from ALSA's (see CALSA) and loops over samples (see CVectors). The
// compiler refuses every other one in a function marked @_noLocks, so these lists are the whole of it.
//
// To allow a call on the audio thread: read its source for locks, allocation and system calls; then add it here.
#pragma once

#include "linux_calls.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"), always_inline)) static inline

#pragma clang assume_nonnull begin

/// Calls the function of a driver that is not known by type. The compiler refuses a call through a Swift
/// function value, but this can be marked: each driver's function is marked and checked itself.
REALTIME_SAFE void realtime_call(
    void (*function)(void *driver, const void *call, void *answer), void *driver, const void *call,
    void *answer) {
  function(driver, call, answer);
}

/// The monotonic clock in nanoseconds. A vDSO read: no system call where the kernel trusts its TSC.
REALTIME_SAFE uint64_t realtime_host_nanoseconds(void) {
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
REALTIME_SAFE int32_t realtime_truncated(float value) { return (int32_t)value; }

// Functions of libm. Read in glibc 2.36, sysdeps/ieee754: flt-32/{s_sinf,s_cosf,e_expf,e_logf,e_powf,s_tanhf,s_expm1f,
// math_errf}.c and dbl-64/{s_sin,branred,e_exp,e_log,e_pow,s_tanh,s_expm1,math_err}.c. Polynomials and constant tables;
// no lock, no memory, no system call. Out of range they set errno, which is the thread's own. Timed at 1 to 4 ns a
// call as float (tanhf 10) and 2 to 9 as double, at 2.6 GHz; sin and cos of 1e9, 33 ns.
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

/// Clears `count` bytes.
REALTIME_SAFE void realtime_clear(void *target, long count) { memset(target, 0, (size_t)count); }

/// Samples from and to memory of any alignment, which Swift's generic loads are not yet proven for.
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

/// mlockall's flag for locking pages when they are touched; Swift's Glibc does not know it.
static const int realtime_lock_on_fault = 4;

// RealtimeSanitizer's marks, present only in a build that links its runtime.
extern void __rtsan_realtime_enter(void) __attribute__((weak));
extern void __rtsan_realtime_exit(void) __attribute__((weak));
extern void __rtsan_disable(void) __attribute__((weak));
extern void __rtsan_enable(void) __attribute__((weak));

/// From here to `realtime_leave`, RealtimeSanitizer ends the program at an allocation, lock or
/// blocking call of this thread. Costs a test of a constant where the sanitizer is not linked.
REALTIME_SAFE void realtime_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

REALTIME_SAFE void realtime_leave(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

/// Around the one call in a cycle that is meant to block: the wait for the device.
REALTIME_SAFE void realtime_pause_watch(void) {
  if (__rtsan_disable) __rtsan_disable();
}

REALTIME_SAFE void realtime_resume_watch(void) {
  if (__rtsan_enable) __rtsan_enable();
}

/// Sleeps until the monotonic clock shows `nanoseconds`, or a signal comes. Simulated devices wait
/// with it where hardware would be polled.
REALTIME_SAFE void realtime_sleep_until(uint64_t nanoseconds) {
  struct timespec until = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  realtime_pause_watch();
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  realtime_resume_watch();
}

#pragma clang assume_nonnull end
