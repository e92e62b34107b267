// Functions of Linux that Swift's Glibc does not define. Not for the audio thread.
#pragma once

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Sets the name of the calling thread for `top` and debuggers; the kernel keeps the first 15
/// bytes.
static inline void linux_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

/// Touches the pages of the next `count` bytes of the calling thread's stack. Not inlined, so that
/// the stack memory is released on return.
__attribute__((noinline)) static void linux_touch_stack(long count) {
  volatile char *pages = (volatile char *)__builtin_alloca((size_t)count);
  for (long offset = 0; offset < count; offset += 4096) pages[offset] = 0;
}

/// Returns the kernel's identifier of the calling thread.
static inline long linux_thread_number(void) { return syscall(SYS_gettid); }

/// Returns the highest realtime priority that this user may set, at most 99; 0 for none. Raises the
/// soft limit to the hard limit.
static inline long linux_realtime_limit(void) {
  struct rlimit limit = {0, 0};
  if (getrlimit(RLIMIT_RTPRIO, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_RTPRIO, &limit);
  }
  return limit.rlim_cur > 99 ? 99 : (long)limit.rlim_cur;
}

/// Limits the time that a realtime thread may run without sleeping, as RealtimeKit requires. Raises
/// no limit: the soft limit may be that of `linux_guard_realtime`.
int linux_limit_realtime(unsigned long microseconds);

/// Gives the calling thread normal priority. Returns whether it had a realtime priority. Safe in
/// signal handlers.
bool linux_end_realtime_priority(void);

/// Installs a guard: a realtime thread that computes for `microseconds` without sleeping continues
/// at normal priority, so that other processes can end it. If a hard limit ends the program, the
/// time is at most half of this limit. Does nothing if the program has a handler of its own. Called
/// for each realtime thread, because the kernel raises the soft limit when a thread exceeds it.
void linux_guard_realtime(unsigned long microseconds);

static inline void linux_ignore_signal(int number) { (void)number; }

/// Wakes a thread that sleeps in a system call: the call fails with EINTR, without other effects.
static inline void linux_interrupt_thread(pthread_t thread) {
  // The handler is installed without SA_RESTART, for a signal that is ignored by default. A handler
  // that the program installed is not replaced.
  struct sigaction action;
  if (sigaction(SIGURG, NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
    action = (struct sigaction){.sa_handler = linux_ignore_signal};
    sigaction(SIGURG, &action, NULL);
  }
  pthread_kill(thread, SIGURG);
}

/// Makes malloc map each block of at least `size` bytes separately.
static inline void linux_separate_blocks(int size) { mallopt(M_MMAP_THRESHOLD, size); }

/// Releases the memory of the code and constants of the program and its libraries; pages that are
/// needed again come back from the page cache, without reading the disk. Any thread.
void linux_release_code(void);
