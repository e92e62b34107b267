// The guard against realtime threads that never sleep. Not for the audio thread.
#define _GNU_SOURCE
#include "linux_calls.h"

#include <errno.h>

int linux_limit_realtime(unsigned long microseconds) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_RTTIME, &limit) != 0) return -1;
  if (limit.rlim_max > microseconds) limit.rlim_max = microseconds;
  if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_RTTIME, &limit);
}

bool linux_end_realtime_priority(void) {
  const int deadline = 6;
  int policy = sched_getscheduler(0);
  if (policy < 0) return false;
  // Without privileges a thread may not clear this flag, which RealtimeKit sets.
  int flag = policy & SCHED_RESET_ON_FORK;
  policy &= ~SCHED_RESET_ON_FORK;
  if (policy != SCHED_FIFO && policy != SCHED_RR && policy != deadline) return false;
  struct sched_param normal = {0};
  sched_setscheduler(0, SCHED_OTHER | flag, &normal);
  return true;
}

// Ends the realtime priority of a thread that computed for too long without sleeping. On a normal
// thread the default action of the signal is performed.
static void handle_long_computation(int number) {
  int code = errno;
  if (!linux_end_realtime_priority()) {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = code;
}

void linux_guard_realtime(unsigned long microseconds) {
  struct sigaction action;
  if (sigaction(SIGXCPU, NULL, &action) != 0) return;
  if (action.sa_handler != SIG_DFL && action.sa_handler != handle_long_computation) return;
  struct rlimit limit;
  if (getrlimit(RLIMIT_RTTIME, &limit) != 0) return;
  action = (struct sigaction){.sa_handler = handle_long_computation, .sa_flags = SA_RESTART};
  sigaction(SIGXCPU, &action, NULL);
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max / 2 < microseconds) microseconds = limit.rlim_max / 2;
  if (limit.rlim_cur <= microseconds) return;
  limit.rlim_cur = microseconds;
  setrlimit(RLIMIT_RTTIME, &limit);
}
