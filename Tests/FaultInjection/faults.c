// Makes one library call fail at its n-th occurrence; loaded into the tool with LD_PRELOAD by
// Scripts/faults.
//
// FAULT is a list of settings separated by commas:
//
//   call=NAME    the family of calls: write, open, snd_pcm_prepare, malloc, ...
//   at=N         the first call that fails, counted from 1 among those that match (1)
//   times=N      the number of calls that fail; 0 for all after the first (1)
//   errno=NAME   the error returned: ENOSPC, EIO, ... (EIO)
//   path=TEXT    only files whose path contains TEXT; stdout is standard output
//   size=BYTES   only memory of at least this number of bytes
//   short=BYTES  the first transfer that fails moves this number of bytes and returns it
//   value=N      the value returned instead of an error: a state of a PCM, events of a poll
//   delay=MS     the call takes this much longer, and succeeds unless errno is given as well
//
// FAULT_LOG names a file that receives a line for each failed call. The settings are not passed on
// to
// the programs that the tool starts. Arguments and results are treated as pointer-sized integers,
// which is correct for all calls below on the supported processors.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

typedef long call(long, long, long, long, long, long);

extern long syscall(long number, ...);
extern char *getenv(const char *name);
extern int unsetenv(const char *name);
extern long strtol(const char *text, char **end, int base);
extern void *__libc_malloc(unsigned long);
extern void *__libc_calloc(unsigned long, unsigned long);
extern void *__libc_realloc(void *, unsigned long);
extern void *__libc_memalign(unsigned long, unsigned long);

static struct {
  char call[64], path[256], log[512];
  long first, times, size, partial, value, delay;
  int error, hasValue, hasError;
} fault = {.first = 1, .times = 1, .partial = -1, .error = EIO};
static atomic_int isArmed;
static atomic_long matches;

static const struct {
  const char *name;
  int number;
} errors[] = {
    {"EPERM", EPERM},   {"ENOENT", ENOENT},   {"EINTR", EINTR},       {"EIO", EIO},
    {"ENXIO", ENXIO},   {"EBADF", EBADF},     {"EAGAIN", EAGAIN},     {"ENOMEM", ENOMEM},
    {"EACCES", EACCES}, {"EBUSY", EBUSY},     {"EEXIST", EEXIST},     {"EXDEV", EXDEV},
    {"ENODEV", ENODEV}, {"EINVAL", EINVAL},   {"EMFILE", EMFILE},     {"ENFILE", ENFILE},
    {"EFBIG", EFBIG},   {"ENOSPC", ENOSPC},   {"ESPIPE", ESPIPE},     {"EROFS", EROFS},
    {"EPIPE", EPIPE},   {"ENOSYS", ENOSYS},   {"EBADFD", EBADFD},     {"ESTRPIPE", ESTRPIPE},
    {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE},   {"EOPNOTSUPP", EOPNOTSUPP},
    {"ETIMEDOUT", ETIMEDOUT}, {"ENOTTY", ENOTTY}, {"ELOOP", ELOOP},
};

static void set(const char *name, const char *value) {
  if (!strcmp(name, "call")) strncpy(fault.call, value, sizeof fault.call - 1);
  if (!strcmp(name, "path")) strncpy(fault.path, value, sizeof fault.path - 1);
  if (!strcmp(name, "at")) fault.first = strtol(value, 0, 10);
  if (!strcmp(name, "times")) fault.times = strtol(value, 0, 10);
  if (!strcmp(name, "size")) fault.size = strtol(value, 0, 10);
  if (!strcmp(name, "short")) fault.partial = strtol(value, 0, 10);
  if (!strcmp(name, "delay")) fault.delay = strtol(value, 0, 10);
  if (!strcmp(name, "value")) fault.value = strtol(value, 0, 10), fault.hasValue = 1;
  for (unsigned index = 0; !strcmp(name, "errno") && index < sizeof errors / sizeof *errors; index++)
    if (!strcmp(value, errors[index].name)) fault.error = errors[index].number, fault.hasError = 1;
}

__attribute__((constructor)) static void arm(void) {
  const char *settings = getenv("FAULT"), *log = getenv("FAULT_LOG");
  if (!settings) return;
  if (log) strncpy(fault.log, log, sizeof fault.log - 1);
  char text[1024] = "", *rest = text, *part;
  strncpy(text, settings, sizeof text - 1);
  while ((part = strsep(&rest, ","))) {
    char *value = strchr(part, '=');
    if (!value) continue;
    *value = 0;
    set(part, value + 1);
  }
  unsetenv("LD_PRELOAD");
  unsetenv("FAULT");
  atomic_store(&isArmed, 1);
}

// Writes the log with direct system calls, none of which is intercepted here.
static void note(const char *name) {
  if (!*fault.log) return;
  long file = syscall(SYS_openat, AT_FDCWD, fault.log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0) return;
  char line[80] = "";
  strncat(line, name, sizeof line - 2);
  strcat(line, "\n");
  syscall(SYS_write, file, line, strlen(line));
  syscall(SYS_close, file);
}

static int namesPath(const char *path) { return path && strstr(path, fault.path) != 0; }

static int isOfPath(long descriptor) {
  char link[40] = "/proc/self/fd/", digits[12], path[1024];
  int count = 0, length = 14;
  // Standard streams fail only if a test case names them, so that the tool can report other
  // failures.
  if (!*fault.path) return descriptor > 2 || descriptor < 0;
  if (!strcmp(fault.path, "stdout")) return descriptor == 1;
  if (descriptor < 0) return 0;
  do digits[count++] = '0' + descriptor % 10;
  while (descriptor /= 10);
  while (count) link[length++] = digits[--count];
  long found = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (found < 0) return 0;
  path[found] = 0;
  // A file without a name is one that is being written.
  return namesPath(path) || strstr(path, "/#") != 0;
}

/// Returns the number of this call among those that must fail, from 1; 0 if the call must succeed.
static long fails(const char *family, int isOurs) {
  if (!isOurs) return 0;
  long number = atomic_fetch_add(&matches, 1) + 1;
  if (number < fault.first || (fault.times && number >= fault.first + fault.times)) return 0;
  note(family);
  if (fault.delay) {
    struct timespec time = {fault.delay / 1000, fault.delay % 1000 * 1000000};
    syscall(SYS_nanosleep, &time, 0);
    if (!fault.hasError) return 0;
  }
  return number - fault.first + 1;
}

static int is(const char *family) { return atomic_load(&isArmed) && !strcmp(fault.call, family); }

#define REAL(name)                                                  \
  static call *real;                                                \
  if (!real) real = (call *)dlsym(RTLD_NEXT, #name);
#define FORWARD real(a, b, c, d, e, f)
// Defines a symbol with the library's name that does not conflict with the library's declaration.
#define FUNCTION(name)                                                           \
  long fault_##name(long a, long b, long c, long d, long e, long f) __asm__(#name); \
  long fault_##name(long a, long b, long c, long d, long e, long f)

// How a family of calls reports a failure.
#define BY_ERRNO (errno = fault.error, -1L)
#define BY_NULL (errno = fault.error, 0L)
#define BY_NUMBER ((long)fault.error)
#define BY_NEGATIVE (-(long)fault.error)

#define ANY_PATH (!*fault.path)
#define PATH(name, family, first, second, failure)                                    \
  FUNCTION(name) {                                                                    \
    REAL(name)                                                                        \
    int ours = is(#family) && (ANY_PATH || namesPath((const char *)(first)) ||        \
                               namesPath((const char *)(second)));                    \
    return fails(#family, ours) ? failure : FORWARD;                                  \
  }
#define DESCRIPTOR(name, family, number, failure)                                     \
  FUNCTION(name) {                                                                    \
    REAL(name)                                                                        \
    int ours = is(#family) && isOfPath((int)(number));                  \
    return fails(#family, ours) ? failure : FORWARD;                                  \
  }
// Transfers may also be short.
#define TRANSFER(name, family)                                                        \
  FUNCTION(name) {                                                                    \
    REAL(name)                                                                        \
    long number = fails(#family, is(#family) && isOfPath((int)a));      \
    if (!number) return FORWARD;                                                      \
    if (fault.partial < 0 || (number > 1 && fault.hasError)) return BY_ERRNO;         \
    if (c > fault.partial) c = fault.partial ? fault.partial : (c + 1) / 2;           \
    return FORWARD;                                                                   \
  }

// A file opened without a name is one that will be written.
#define OPEN(name)                                                                    \
  FUNCTION(name) {                                                                    \
    REAL(name)                                                                        \
    int ours = is("open") && (ANY_PATH || namesPath((const char *)a) ||               \
                              (b & O_TMPFILE) == O_TMPFILE);                          \
    return fails("open", ours) ? BY_ERRNO : FORWARD;                                  \
  }
OPEN(open)
OPEN(open64)
PATH(openat, open, b, 0, BY_ERRNO)
PATH(openat64, open, b, 0, BY_ERRNO)
PATH(creat, open, a, 0, BY_ERRNO)
PATH(fopen, fopen, a, 0, BY_NULL)
PATH(fopen64, fopen, a, 0, BY_NULL)
PATH(mkstemp, mkstemp, a, 0, BY_ERRNO)
PATH(mkostemp, mkstemp, a, 0, BY_ERRNO)
PATH(rename, rename, a, b, BY_ERRNO)
PATH(renameat, rename, b, d, BY_ERRNO)
PATH(renameat2, rename, b, d, BY_ERRNO)
PATH(link, link, a, b, BY_ERRNO)
PATH(linkat, link, b, d, BY_ERRNO)
PATH(unlink, unlink, a, 0, BY_ERRNO)
PATH(unlinkat, unlink, b, 0, BY_ERRNO)
PATH(remove, unlink, a, 0, BY_ERRNO)
PATH(mkdir, mkdir, a, 0, BY_ERRNO)
PATH(mkdirat, mkdir, b, 0, BY_ERRNO)
PATH(stat, stat, a, 0, BY_ERRNO)
PATH(stat64, stat, a, 0, BY_ERRNO)
PATH(lstat, stat, a, 0, BY_ERRNO)
PATH(lstat64, stat, a, 0, BY_ERRNO)
PATH(fstatat, stat, b, 0, BY_ERRNO)
PATH(fstatat64, stat, b, 0, BY_ERRNO)
PATH(statx, stat, b, 0, BY_ERRNO)
PATH(statvfs, statvfs, a, 0, BY_ERRNO)
PATH(access, access, a, 0, BY_ERRNO)
PATH(faccessat, access, b, 0, BY_ERRNO)
PATH(realpath, realpath, a, 0, BY_NULL)
PATH(chmod, chmod, a, 0, BY_ERRNO)
PATH(opendir, opendir, a, 0, BY_NULL)
DESCRIPTOR(fstat, fstat, a, BY_ERRNO)
DESCRIPTOR(fstat64, fstat, a, BY_ERRNO)
DESCRIPTOR(fsync, fsync, a, BY_ERRNO)
DESCRIPTOR(fdatasync, fdatasync, a, BY_ERRNO)
DESCRIPTOR(ftruncate, ftruncate, a, BY_ERRNO)
DESCRIPTOR(ftruncate64, ftruncate, a, BY_ERRNO)
DESCRIPTOR(lseek, lseek, a, BY_ERRNO)
DESCRIPTOR(lseek64, lseek, a, BY_ERRNO)
DESCRIPTOR(fallocate, fallocate, a, BY_ERRNO)
DESCRIPTOR(fallocate64, fallocate, a, BY_ERRNO)
DESCRIPTOR(posix_fallocate, fallocate, a, BY_NUMBER)
DESCRIPTOR(posix_fallocate64, fallocate, a, BY_NUMBER)
DESCRIPTOR(flock, flock, a, BY_ERRNO)
DESCRIPTOR(signalfd, signalfd, a, BY_ERRNO)
DESCRIPTOR(fcntl, fcntl, a, BY_ERRNO)
DESCRIPTOR(fcntl64, fcntl, a, BY_ERRNO)
DESCRIPTOR(fchmod, fchmod, a, BY_ERRNO)
DESCRIPTOR(sendfile, sendfile, a, BY_ERRNO)
DESCRIPTOR(sendfile64, sendfile, a, BY_ERRNO)
DESCRIPTOR(dup2, dup, a, BY_ERRNO)
DESCRIPTOR(dup3, dup, a, BY_ERRNO)
DESCRIPTOR(poll, poll, -1, BY_ERRNO)
TRANSFER(write, write)
TRANSFER(pwrite, pwrite)
TRANSFER(pwrite64, pwrite)
TRANSFER(read, read)
TRANSFER(pread, pread)
TRANSFER(pread64, pread)
// A vector call is treated as one transfer that can only fail completely.
DESCRIPTOR(writev, write, a, BY_ERRNO)
DESCRIPTOR(readv, read, a, BY_ERRNO)

// The kernel closes the descriptor regardless of the result.
FUNCTION(close) {
  REAL(close)
  int failing = fails("close", is("close") && isOfPath((int)a)) > 0;
  long answer = FORWARD;
  return failing ? BY_ERRNO : answer;
}

FUNCTION(pthread_create) {
  REAL(pthread_create)
  return fails("pthread_create", is("pthread_create")) ? BY_NUMBER : FORWARD;
}

static int isMemory(const char *family, unsigned long size) {
  return is(family) && size >= (unsigned long)fault.size;
}
void *malloc(unsigned long size) {
  return fails("malloc", isMemory("malloc", size)) ? (errno = ENOMEM, (void *)0)
                                                   : __libc_malloc(size);
}
void *calloc(unsigned long count, unsigned long size) {
  return fails("calloc", isMemory("calloc", count * size)) ? (errno = ENOMEM, (void *)0)
                                                           : __libc_calloc(count, size);
}
void *realloc(void *memory, unsigned long size) {
  return fails("realloc", isMemory("realloc", size)) ? (errno = ENOMEM, (void *)0)
                                                     : __libc_realloc(memory, size);
}
void *aligned_alloc(unsigned long alignment, unsigned long size) {
  return fails("memalign", isMemory("memalign", size)) ? (errno = ENOMEM, (void *)0)
                                                       : __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, unsigned long alignment, unsigned long size) {
  if (fails("memalign", isMemory("memalign", size))) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
FUNCTION(mmap) {
  REAL(mmap)
  int ours = isMemory("mmap", (unsigned long)b) && (ANY_PATH || isOfPath((int)e));
  return fails("mmap", ours) ? BY_ERRNO : FORWARD;
}

// ALSA functions return the negative error number, or the value from the settings.
#define ALSA(name)                                                       \
  FUNCTION(name) {                                                       \
    REAL(name)                                                           \
    if (!fails(#name, is(#name))) return FORWARD;                        \
    return fault.hasValue ? fault.value : BY_NEGATIVE;                   \
  }
#define ALSA_TRANSFER(name)                                              \
  FUNCTION(name) {                                                       \
    REAL(name)                                                           \
    long number = fails(#name, is(#name));                               \
    if (!number) return FORWARD;                                         \
    if (fault.partial < 0) return BY_NEGATIVE;                           \
    if (c > fault.partial) c = fault.partial ? fault.partial : c / 2;    \
    return FORWARD;                                                      \
  }
ALSA_TRANSFER(snd_pcm_readi)
ALSA_TRANSFER(snd_pcm_writei)
ALSA_TRANSFER(snd_pcm_readn)
ALSA_TRANSFER(snd_pcm_writen)
ALSA_TRANSFER(snd_pcm_mmap_commit)
ALSA(snd_pcm_open)
ALSA(snd_pcm_close)
ALSA(snd_pcm_start)
ALSA(snd_pcm_prepare)
ALSA(snd_pcm_drop)
ALSA(snd_pcm_drain)
ALSA(snd_pcm_resume)
ALSA(snd_pcm_link)
ALSA(snd_pcm_state)
ALSA(snd_pcm_type)
ALSA(snd_pcm_info)
ALSA(snd_pcm_avail)
ALSA(snd_pcm_avail_update)
ALSA(snd_pcm_delay)
ALSA(snd_pcm_htimestamp)
ALSA(snd_pcm_status)
ALSA(snd_pcm_status_malloc)
ALSA(snd_pcm_info_malloc)
ALSA(snd_pcm_hw_params)
ALSA(snd_pcm_hw_params_any)
ALSA(snd_pcm_hw_params_malloc)
ALSA(snd_pcm_hw_params_set_access)
ALSA(snd_pcm_hw_params_set_format)
ALSA(snd_pcm_hw_params_test_format)
ALSA(snd_pcm_hw_params_set_channels_min)
ALSA(snd_pcm_hw_params_set_channels_first)
ALSA(snd_pcm_hw_params_set_rate_near)
ALSA(snd_pcm_hw_params_set_rate_resample)
ALSA(snd_pcm_hw_params_set_period_size_near)
ALSA(snd_pcm_hw_params_set_buffer_size_near)
ALSA(snd_pcm_hw_params_get_period_size)
ALSA(snd_pcm_hw_params_get_buffer_size)
ALSA(snd_pcm_hw_params_get_rate_min)
ALSA(snd_pcm_hw_params_get_rate_max)
ALSA(snd_pcm_hw_params_get_channels_min)
ALSA(snd_pcm_hw_params_get_channels_max)
ALSA(snd_pcm_hw_params_get_sbits)
ALSA(snd_pcm_sw_params)
ALSA(snd_pcm_sw_params_malloc)
ALSA(snd_pcm_sw_params_current)
ALSA(snd_pcm_sw_params_get_boundary)
ALSA(snd_pcm_sw_params_set_start_threshold)
ALSA(snd_pcm_sw_params_set_stop_threshold)
ALSA(snd_pcm_sw_params_set_avail_min)
ALSA(snd_pcm_sw_params_set_tstamp_mode)
ALSA(snd_pcm_sw_params_set_tstamp_type)
ALSA(snd_pcm_poll_descriptors_count)
ALSA(snd_pcm_poll_descriptors)
ALSA(snd_device_name_hint)
ALSA(snd_ctl_open)
ALSA(snd_ctl_pcm_info)
ALSA(snd_ctl_card_info)
ALSA(snd_card_load)

// Offers fewer frames, or none.
FUNCTION(snd_pcm_mmap_begin) {
  REAL(snd_pcm_mmap_begin)
  if (!fails("snd_pcm_mmap_begin", is("snd_pcm_mmap_begin"))) return FORWARD;
  if (fault.partial < 0) return BY_NEGATIVE;
  long answer = FORWARD;
  unsigned long *frames = (unsigned long *)d;
  if (answer == 0 && *frames > (unsigned long)fault.partial) *frames = (unsigned long)fault.partial;
  return answer;
}
// The events are returned through a pointer.
FUNCTION(snd_pcm_poll_descriptors_revents) {
  REAL(snd_pcm_poll_descriptors_revents)
  if (!fails("snd_pcm_poll_descriptors_revents", is("snd_pcm_poll_descriptors_revents")))
    return FORWARD;
  if (!fault.hasValue) return BY_NEGATIVE;
  *(unsigned short *)d = (unsigned short)fault.value;
  return 0;
}
