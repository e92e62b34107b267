#pragma once

#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

// The ALSA functions allowed on the audio thread. They are redeclared so that the compiler accepts
// them, and no others, in functions marked @_noLocks. Source read: alsa-lib 1.2.8. On hardware they
// access the mapped status and control pages (avail_update, mmap_begin, mmap_commit) or perform the
// one system call that is their purpose (readi, writei, readn, writen, poll). The mutex that
// alsa-lib locks around plugins is disabled, because one thread uses a PCM (LIBASOUND_THREAD_SAFE).
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks")))

REALTIME_SAFE snd_pcm_sframes_t snd_pcm_avail_update(snd_pcm_t *pcm);
REALTIME_SAFE snd_pcm_sframes_t snd_pcm_avail(snd_pcm_t *pcm);
REALTIME_SAFE int snd_pcm_mmap_begin(snd_pcm_t *pcm, const snd_pcm_channel_area_t **areas,
                                     snd_pcm_uframes_t *offset, snd_pcm_uframes_t *frames);
REALTIME_SAFE snd_pcm_sframes_t snd_pcm_mmap_commit(snd_pcm_t *pcm, snd_pcm_uframes_t offset,
                                                    snd_pcm_uframes_t frames);
REALTIME_SAFE snd_pcm_sframes_t snd_pcm_readi(snd_pcm_t *pcm, void *buffer, snd_pcm_uframes_t size);
REALTIME_SAFE snd_pcm_sframes_t snd_pcm_writei(snd_pcm_t *pcm, const void *buffer,
                                               snd_pcm_uframes_t size);
REALTIME_SAFE snd_pcm_sframes_t snd_pcm_readn(snd_pcm_t *pcm, void **bufs, snd_pcm_uframes_t size);
REALTIME_SAFE snd_pcm_sframes_t snd_pcm_writen(snd_pcm_t *pcm, void **bufs, snd_pcm_uframes_t size);
REALTIME_SAFE int snd_pcm_htimestamp(snd_pcm_t *pcm, snd_pcm_uframes_t *avail, snd_htimestamp_t *tstamp);
REALTIME_SAFE int snd_pcm_delay(snd_pcm_t *pcm, snd_pcm_sframes_t *delayp);
REALTIME_SAFE int snd_pcm_start(snd_pcm_t *pcm);
REALTIME_SAFE snd_pcm_state_t snd_pcm_state(snd_pcm_t *pcm);
REALTIME_SAFE int snd_pcm_poll_descriptors_revents(snd_pcm_t *pcm, struct pollfd *pfds,
                                                   unsigned int nfds, unsigned short *revents);

// Functions of RealtimeSanitizer, defined only in a build that links its runtime. The wait for a
// device is the only part of a cycle that may block.
extern void __rtsan_disable(void) __attribute__((weak));
extern void __rtsan_enable(void) __attribute__((weak));

/// Sleeps until a device is ready: the only place where the audio thread waits.
REALTIME_SAFE static inline int duplex_sleep(struct pollfd *descriptors, long count, int milliseconds) {
  if (__rtsan_disable) __rtsan_disable();
  int ready = poll(descriptors, (nfds_t)count, milliseconds);
  if (__rtsan_enable) __rtsan_enable();
  return ready;
}

/// Returns a descriptor that becomes ready with each period of the device with `descriptor`, or -1.
/// The kernel keeps it in the device's wait queue; `poll` would join and leave the queue in each
/// call.
static inline int duplex_open_waiting(const struct pollfd *descriptor) {
  int waiting = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = (unsigned)descriptor->events | EPOLLET};
  if (waiting >= 0 && epoll_ctl(waiting, EPOLL_CTL_ADD, descriptor->fd, &event) != 0) {
    close(waiting);
    return -1;
  }
  return waiting;
}

/// Sleeps until the device of `waiting` is ready. Returns the events of poll, or 0 if interrupted
/// or if the timeout expired.
REALTIME_SAFE static inline int duplex_sleep_waiting(int waiting, int milliseconds) {
  struct epoll_event event = {0};
  if (__rtsan_disable) __rtsan_disable();
  int ready = epoll_wait(waiting, &event, 1, milliseconds);
  if (__rtsan_enable) __rtsan_enable();
  return ready == 1 ? (int)event.events : 0;
}

static void duplex_ignore_error(const char *file, int line, const char *function, int error,
                                const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// Prevents alsa-lib from printing its diagnostics to standard error.
static inline void duplex_silence_alsa(void) { snd_lib_error_set_handler(duplex_ignore_error); }

/// A buffer for the messages of alsa-lib to a thread.
struct duplex_error_text {
  char *text;
  size_t room;
};

// Swift's importer does not compile a variable of a header into its modules, but does compile a
// variable of a function.
static struct duplex_error_text *duplex_collected_errors(void) {
  static _Thread_local struct duplex_error_text collected;
  return &collected;
}

static void duplex_collect_error(const char *file, int line, const char *function, int error,
                                 const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error;
  struct duplex_error_text *collected = duplex_collected_errors();
  if (collected->room < 2) return;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(collected->text, collected->room - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  size_t count = (size_t)length < collected->room - 1 ? (size_t)length : collected->room - 2;
  collected->text[count] = '\n';
  collected->text[count + 1] = 0;
  collected->text += count + 1;
  collected->room -= count + 1;
}

/// Makes alsa-lib write the messages that it prints to this thread into `text`, of `size` bytes,
/// one per line, until `duplex_end_collecting`.
static inline void duplex_begin_collecting(char *text, size_t size) {
  *text = 0;
  *duplex_collected_errors() = (struct duplex_error_text){text, size};
  snd_lib_error_set_handler(duplex_collect_error);
}

static inline void duplex_end_collecting(void) {
  duplex_silence_alsa();
  duplex_collected_errors()->room = 0;
}

/// Reads ALSA's configuration. Returns 0 or more, or a negative error number: then `text`, of
/// `size` bytes, contains the messages of alsa-lib, one per line.
static inline int duplex_read_configuration(char *text, size_t size) {
  snd_config_t *top = NULL;
  duplex_begin_collecting(text, size);
  int result = snd_config_update_ref(&top);
  duplex_end_collecting();
  if (top) snd_config_unref(top);
  return result;
}

/// Opens a PCM, which never blocks. If it returns a negative error number, `text`, of `size` bytes,
/// contains the messages of alsa-lib, one per line.
static inline int duplex_open_pcm(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream,
                                  char *text, size_t size) {
  duplex_begin_collecting(text, size);
  int result = snd_pcm_open(pcm, name, stream, SND_PCM_NONBLOCK);
  duplex_end_collecting();
  return result;
}

static void duplex_ignore_text(const char *text) { (void)text; }

/// Prevents libjack, which ALSA's plugin of that name uses, from printing to standard error. Loads
/// the library permanently, so that messages of its first connection are suppressed as well.
static inline void duplex_silence_jack(void) {
  typedef void (*set_handler)(void (*)(const char *));
  void *library = dlopen("libjack.so.0", RTLD_LAZY);
  if (!library) return;
  set_handler set_error = (set_handler)dlsym(library, "jack_set_error_function");
  set_handler set_info = (set_handler)dlsym(library, "jack_set_info_function");
  if (set_error) set_error(duplex_ignore_text);
  if (set_info) set_info(duplex_ignore_text);
}
