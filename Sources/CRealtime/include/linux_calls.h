// Calls of Linux that Swift's Glibc does not know. Not for the audio thread.
#pragma once

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Names the calling thread, for `top` and debuggers; the kernel keeps the first 15 bytes.
static inline void linux_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

/// Faults in the next `count` bytes of the calling thread's stack. Not inlined, so that the memory
/// is given back to the stack on return.
__attribute__((noinline)) static void linux_touch_stack(long count) {
  volatile char *pages = (volatile char *)__builtin_alloca((size_t)count);
  for (long offset = 0; offset < count; offset += 4096) pages[offset] = 0;
}

/// The calling thread's number in the kernel.
static inline long linux_thread_number(void) { return syscall(SYS_gettid); }

/// The highest realtime priority this user may take by himself; 0 for none.
static inline long linux_realtime_limit(void) {
  struct rlimit limit = {0, 0};
  if (getrlimit(RLIMIT_RTPRIO, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_RTPRIO, &limit);
  }
  return limit.rlim_cur > 99 ? 99 : (long)limit.rlim_cur;
}

/// Lets a realtime thread run at most so long without sleeping, as RealtimeKit insists.
static inline int linux_limit_realtime(unsigned long microseconds) {
  struct rlimit limit = {microseconds, microseconds};
  return setrlimit(RLIMIT_RTTIME, &limit);
}

/// Takes the realtime priority from the calling thread, which computed for too long without sleeping.
/// On a normal thread the signal means what it always does.
static inline void linux_end_realtime(int number) {
  if (sched_getscheduler(0) == SCHED_OTHER) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  struct sched_param normal = {0};
  sched_setscheduler(0, SCHED_OTHER, &normal);
}

/// A realtime thread that computes for so long without sleeping goes on at normal priority, so that
/// others can end it. Where a limit kills, that is half of it.
static inline void linux_guard_realtime(unsigned long microseconds) {
  struct sigaction action;
  if (sigaction(SIGXCPU, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
  struct rlimit limit;
  if (getrlimit(RLIMIT_RTTIME, &limit) != 0) return;
  action = (struct sigaction){.sa_handler = linux_end_realtime, .sa_flags = SA_RESTART};
  sigaction(SIGXCPU, &action, NULL);
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max / 2 < microseconds) microseconds = limit.rlim_max / 2;
  if (limit.rlim_cur < microseconds) return;
  limit.rlim_cur = microseconds;
  setrlimit(RLIMIT_RTTIME, &limit);
}

/// A descriptor that becomes readable when one of the signals of `set` comes, or -1.
static inline int linux_open_signals(const sigset_t *set) {
  return signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static inline void linux_ignore_signal(int number) { (void)number; }

/// Wakes a thread that sleeps in a system call: the call fails with EINTR, and nothing else happens.
static inline void linux_interrupt_thread(pthread_t thread) {
  // Without SA_RESTART; and a signal whose default is to be ignored. A handler of the program's own stays.
  struct sigaction action;
  if (sigaction(SIGURG, NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
    action = (struct sigaction){.sa_handler = linux_ignore_signal};
    sigaction(SIGURG, &action, NULL);
  }
  pthread_kill(thread, SIGURG);
}

/// Has malloc map blocks of `size` bytes and more one by one.
static inline void linux_separate_blocks(int size) { mallopt(M_MMAP_THRESHOLD, size); }

// Where the linker put the program's code.
extern const char __executable_start[] __attribute__((weak));
extern const char etext[] __attribute__((weak));

/// Lets go of the program's own code; what is needed again comes back from the page cache, unread.
static inline void linux_release_code(void) {
  const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
  if (!__executable_start || !etext) return;
  unsigned long first = ((unsigned long)__executable_start + page - 1) & ~(page - 1);
  unsigned long last = (unsigned long)etext & ~(page - 1);
  if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
}
