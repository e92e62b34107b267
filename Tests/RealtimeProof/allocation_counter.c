// Counts the audio thread's allocator and lock calls. Preloaded (LD_PRELOAD).
//
// It counts the calls of the thread named duplex-audio between its first and last wait for the
// device: calls before audio flows and after it ends cannot cause a dropout. The result is written
// to the file that AUDIO_THREAD_COUNTS names, or to standard error. Nothing is written for a
// program
// without such a thread:
//
//   cycles=10402 allocations=0 frees=0 locks=0
//
// A cycle is a wait (clock_nanosleep, poll, ppoll, epoll_wait) and the calls after it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum kind { allocations, frees, locks, kinds };

// The C library's internal names of the functions replaced here.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// The counts since the last wait, and the totals before it. Only the audio thread writes them; the
// report is made after that thread was joined.
static long since_wait[kinds], counted[kinds], waits;

// The kind of the calling thread, in a storage model that needs no allocation.
static __thread enum { unknown, other, watched } thread
    __attribute__((tls_model("initial-exec")));

static inline void note(enum kind kind) {
  if (thread == watched) since_wait[kind]++;
}

static int is_audio_thread(void) {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  return strcmp(name, "duplex-audio") == 0;
}

static void note_wait(void) {
  // Checked at the first wait, because a thread has its name by then.
  if (thread == unknown) thread = is_audio_thread() ? watched : other;
  if (thread == other) return;
  waits++;
  for (int kind = 0; kind < kinds; kind++) {
    counted[kind] += since_wait[kind];
    since_wait[kind] = 0;
  }
}

void *malloc(size_t size) {
  note(allocations);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  note(allocations);
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  note(allocations);
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(allocations);
  return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
  note(allocations);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  note(allocations);
  void *made = __libc_memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}

void free(void *block) {
  if (block != NULL) note(frees);
  __libc_free(block);
}

// Looks up the replaced function, once.
#define NEXT(function) \
  static __typeof__(&function) next; \
  if (next == NULL) next = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  NEXT(pthread_mutex_lock);
  note(locks);
  return next(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_rdlock);
  note(locks);
  return next(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  NEXT(pthread_rwlock_wrlock);
  note(locks);
  return next(lock);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  NEXT(clock_nanosleep);
  note_wait();
  return next(clock, flags, time, left);
}

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
  NEXT(poll);
  note_wait();
  return next(descriptors, count, timeout);
}

int ppoll(
    struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
  NEXT(ppoll);
  note_wait();
  return next(descriptors, count, timeout, mask);
}

int epoll_wait(int queue, struct epoll_event *events, int count, int timeout) {
  NEXT(epoll_wait);
  note_wait();
  return next(queue, events, count, timeout);
}

__attribute__((destructor)) static void report(void) {
  if (waits == 0) return;
  const char *path = getenv("AUDIO_THREAD_COUNTS");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : STDERR_FILENO;
  if (file < 0) return;
  long cycles = waits - 1;
  dprintf(
      file, "cycles=%ld allocations=%ld frees=%ld locks=%ld\n", cycles, counted[allocations],
      counted[frees], counted[locks]);
}
