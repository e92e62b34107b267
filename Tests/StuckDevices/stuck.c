// Preloaded: a device with a period of about 1 ms, made of ALSA's `null`, or a disk, of which one
// call does not return. $STUCK_CALL names the call, $STUCK_AFTER gives the number of its calls that
// return before it blocks; the file $STUCK_REACHED is created when it blocks. With $STUCK_SECONDS
// the call returns after that time. With $STUCK_PCM only opening that device blocks. For a disk,
// only calls on the file $STUCK_FILE block.
#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int calls;

// Sleeps for 1000000 seconds, or for $STUCK_SECONDS, if it is this call's turn; with $STUCK_SPINS
// it spins instead.
static void pass(const char *name) {
  const char *stuck = getenv("STUCK_CALL");
  if (!stuck || strcmp(stuck, name) != 0) return;
  const char *after = getenv("STUCK_AFTER");
  if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) < (after ? atoi(after) : 0)) return;
  const char *reached = getenv("STUCK_REACHED");
  if (reached) close(creat(reached, 0600));
  const char *seconds = getenv("STUCK_SECONDS");
  struct timespec now, end = {.tv_sec = seconds ? atoi(seconds) : 1000000};
  clock_gettime(CLOCK_MONOTONIC, &now);
  end.tv_sec += now.tv_sec;
  end.tv_nsec = now.tv_nsec;
  if (!getenv("STUCK_SPINS"))
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0) continue;
  while (now.tv_sec < end.tv_sec) clock_gettime(CLOCK_MONOTONIC, &now);
}

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long started, moved;

static long now_frames(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 48000 + now.tv_nsec / 1000 * 48 / 1000;
}

// Reports a card, so that the device counts as one with a clock.
int snd_pcm_info_get_card(const snd_pcm_info_t *info) { return getenv("STUCK_TIMELESS") ? -1 : 0; }

int snd_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode) {
  const char *only = getenv("STUCK_PCM");
  if (!only || strcmp(only, name) == 0) pass("open");
  return ORIGINAL(snd_pcm_open)(pcm, name, stream, mode);
}

int snd_device_name_hint(int card, const char *kind, void ***hints) {
  pass("hint");
  return ORIGINAL(snd_device_name_hint)(card, kind, hints);
}

int snd_pcm_close(snd_pcm_t *pcm) {
  pass("close");
  return ORIGINAL(snd_pcm_close)(pcm);
}

int snd_pcm_drop(snd_pcm_t *pcm) {
  pass("drop");
  return ORIGINAL(snd_pcm_drop)(pcm);
}

int snd_pcm_prepare(snd_pcm_t *pcm) {
  pass("prepare");
  return ORIGINAL(snd_pcm_prepare)(pcm);
}

int snd_pcm_hw_params(snd_pcm_t *pcm, snd_pcm_hw_params_t *params) {
  pass("hw_params");
  return ORIGINAL(snd_pcm_hw_params)(pcm, params);
}

// Returns whether `descriptor` is the file $STUCK_FILE. The check is made at each call, because a
// file created without a name may have received that name later.
static int is_stuck(int descriptor) {
  struct stat wanted, found;
  const char *name = getenv("STUCK_FILE");
  return name && stat(name, &wanted) == 0 && fstat(descriptor, &found) == 0 &&
         wanted.st_dev == found.st_dev && wanted.st_ino == found.st_ino;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  if (is_stuck(descriptor)) pass("read");
  return ORIGINAL(read)(descriptor, bytes, count);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t place) {
  if (is_stuck(descriptor)) pass("read");
  return ORIGINAL(pread)(descriptor, bytes, count, place);
}

int fdatasync(int descriptor) {
  if (is_stuck(descriptor)) pass("sync");
  return ORIGINAL(fdatasync)(descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (is_stuck(descriptor)) pass("write");
  return ORIGINAL(write)(descriptor, bytes, count);
}

int snd_pcm_drain(snd_pcm_t *pcm) {
  pass("drain");
  return ORIGINAL(snd_pcm_drain)(pcm);
}

int snd_pcm_start(snd_pcm_t *pcm) {
  pass("start");
  started = now_frames();
  return ORIGINAL(snd_pcm_start)(pcm);
}

static snd_pcm_sframes_t paced(snd_pcm_sframes_t frames) {
  if (getenv("STUCK_TIMELESS") || !started || frames < 0) return frames;
  long due = now_frames() - started - moved;
  return due < 0 ? 0 : due < frames ? due : frames;
}

snd_pcm_sframes_t snd_pcm_avail_update(snd_pcm_t *pcm) {
  pass("avail");
  return paced(ORIGINAL(snd_pcm_avail_update)(pcm));
}

snd_pcm_sframes_t snd_pcm_avail(snd_pcm_t *pcm) { return paced(ORIGINAL(snd_pcm_avail)(pcm)); }

snd_pcm_sframes_t snd_pcm_mmap_commit(snd_pcm_t *pcm, snd_pcm_uframes_t offset,
                                      snd_pcm_uframes_t frames) {
  pass("commit");
  if (started) moved += frames;
  return ORIGINAL(snd_pcm_mmap_commit)(pcm, offset, frames);
}
