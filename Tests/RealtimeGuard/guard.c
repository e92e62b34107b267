// The guard against realtime threads that never sleep, as RealtimeKit's threads are set up: with
// SCHED_RESET_ON_FORK, without privileges, and with a hard limit at which the kernel ends the
// program. Started as root. Prints what is wrong, if anything is.
#define _GNU_SOURCE
#include "linux_calls.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { hard_limit = 200000 };

// Computes without sleeping until the thread has lost its realtime priority, for at most 3 s.
// Returns its policy then.
static int compute(void) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec - start.tv_sec < 3 && (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_RR);
  return sched_getscheduler(0);
}

static int has_limits(const char *when, unsigned long soft) {
  struct rlimit limit;
  getrlimit(RLIMIT_RTTIME, &limit);
  if (limit.rlim_cur == soft && limit.rlim_max == hard_limit) return 1;
  printf("%s: the limits are %lu and %lu us\n", when, limit.rlim_cur, limit.rlim_max);
  return 0;
}

int main(void) {
  struct sched_param parameters = {.sched_priority = 10};
  if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) != 0) {
    printf("this user may not set a realtime priority\n");
    return 2;
  }
  linux_limit_realtime(hard_limit);
  linux_guard_realtime(1000000);
  int is_right = has_limits("after the first thread", hard_limit / 2);
  linux_limit_realtime(hard_limit);
  linux_guard_realtime(1000000);
  is_right &= has_limits("after the second thread", hard_limit / 2);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_RTPRIO, &none);
  if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) return 2;
  fflush(stdout);
  int policy = compute();
  if (policy != (SCHED_OTHER | SCHED_RESET_ON_FORK)) {
    printf("the policy is %d\n", policy);
    return 1;
  }
  // The kernel raised the soft limit when it sent the signal.
  linux_limit_realtime(hard_limit);
  linux_guard_realtime(1000000);
  return has_limits("after the signal", hard_limit / 2) & is_right ? 0 : 1;
}
