#define _GNU_SOURCE
#include "PassingOn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { most_fakes = 1024 };

static struct fake_pcm *fakes[most_fakes];
static int fake_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct fake_pcm *fake_pcm_make(void) {
  struct fake_pcm *made = calloc(1, sizeof *made);
  made->memory = calloc(most_samples, sizeof *made->memory);
  made->stamp = made->stop_stamp = -1;
  made->descriptor = made->waker = -1;
  pthread_mutex_lock(&mutex);
  if (fake_count == most_fakes) abort();
  snprintf(made->name, sizeof made->name, "fake:%d", fake_count);
  fakes[fake_count++] = made;
  pthread_mutex_unlock(&mutex);
  return made;
}

// The handle of a fake is the address of its structure, which no other object has.
struct fake_pcm *fake(const void *handle) {
  struct fake_pcm *found = NULL;
  pthread_mutex_lock(&mutex);
  for (int index = 0; index < fake_count && !found; ++index)
    if (fakes[index] == handle) found = fakes[index];
  pthread_mutex_unlock(&mutex);
  return found;
}

int snd_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream, int mode) {
  struct fake_pcm *found = NULL;
  pthread_mutex_lock(&mutex);
  for (int index = 0; index < fake_count; ++index)
    if (strcmp(fakes[index]->name, name) == 0) found = fakes[index];
  pthread_mutex_unlock(&mutex);
  if (is_on_fake_card(name)) return -ENODEV;
  if (!found) return ALSAS(snd_pcm_open)(pcm, name, stream, mode);
  if (found->open_code) return found->open_code;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -errno;
  found->descriptor = ends[0];
  found->waker = ends[1];
  if (!found->is_never_due) fake_pcm_wake(found);
  found->opened++;
  // The direction is stored in the last sample, which only this file reads.
  found->memory[most_samples - 1] = (int16_t)stream;
  *pcm = (snd_pcm_t *)found;
  return 0;
}

void fake_pcm_wake(struct fake_pcm *pcm) {
  if (write(pcm->waker, "", 1) != 1) abort();
}

void fake_pcm_hang_up(struct fake_pcm *pcm) {
  if (pcm->waker >= 0) close(pcm->waker);
  pcm->waker = -1;
}

int snd_pcm_close(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_close, pcm);
  fake_pcm_hang_up(fake(pcm));
  close(fake(pcm)->descriptor);
  fake(pcm)->closed++;
  return 0;
}

static bool is_capture(const struct fake_pcm *pcm) {
  return pcm->memory[most_samples - 1] == SND_PCM_STREAM_CAPTURE;
}

static long known_frames(const struct fake_pcm *pcm) {
  long free = is_capture(pcm) ? 0 : pcm->buffer;
  return free + pcm->hardware - pcm->application;
}

static long answer(struct fake_pcm *pcm) {
  long frames = known_frames(pcm);
  return pcm->is_running && frames > pcm->buffer ? -EPIPE : frames;
}

snd_pcm_sframes_t snd_pcm_avail(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_avail, pcm);
  struct fake_pcm *of = fake(pcm);
  if (of->is_running) of->hardware += of->move;
  return of->code < 0 ? of->code : answer(of);
}

snd_pcm_sframes_t snd_pcm_avail_update(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_avail_update, pcm);
  struct fake_pcm *of = fake(pcm);
  if (of->code < 0 && !of->is_code_hidden) return of->code;
  long frames = answer(of);
  return frames < 0 ? frames : frames > of->stale ? frames - of->stale : 0;
}

// Returns the index of a sample in the fake's memory.
static long place_of(const struct fake_pcm *of, long frame, long channel) {
  frame %= of->buffer;
  return of->is_planar ? channel * of->buffer + frame : frame * of->channels + channel;
}

int snd_pcm_mmap_begin(snd_pcm_t *pcm, const snd_pcm_channel_area_t **areas,
                       snd_pcm_uframes_t *offset, snd_pcm_uframes_t *frames) {
  PASS_ON(pcm, snd_pcm_mmap_begin, pcm, areas, offset, frames);
  struct fake_pcm *of = fake(pcm);
  if (of->code < 0) return (int)of->code;
  static _Thread_local snd_pcm_channel_area_t lent[64];
  for (int channel = 0; channel < of->channels; ++channel)
    lent[channel] = (snd_pcm_channel_area_t){.addr = of->memory,
                                             .first = 16 * (unsigned)place_of(of, 0, channel),
                                             .step = 16 * (unsigned)place_of(of, 1, 0)};
  if (of->is_uneven) lent[of->channels - 1].first += 16;
  if (of->has_uneven_steps) lent[of->channels - 1].step += 16;
  *areas = lent;
  long place = of->application % of->buffer;
  long count = of->buffer - place;
  if (count > known_frames(of)) count = known_frames(of);
  if (count < 0) return -EPIPE;
  *offset = (snd_pcm_uframes_t)place;
  if (*frames > (snd_pcm_uframes_t)count) *frames = (snd_pcm_uframes_t)count;
  return 0;
}

// Moves as many of `frames` frames as one call may transfer. Returns their number, or an error
// code.
static long moved(struct fake_pcm *of, long frames) {
  if (of->code < 0) return of->code;
  if (of->refusals > 0 && frames > 0) {
    of->refusals--;
    return of->refusal_code;
  }
  if (of->maximum > 0 && frames > of->maximum) frames = of->maximum;
  if (frames > known_frames(of)) frames = known_frames(of);
  of->application += frames;
  return frames;
}

snd_pcm_sframes_t snd_pcm_mmap_commit(snd_pcm_t *pcm, snd_pcm_uframes_t offset,
                                      snd_pcm_uframes_t frames) {
  PASS_ON(pcm, snd_pcm_mmap_commit, pcm, offset, frames);
  struct fake_pcm *of = fake(pcm);
  if ((long)offset != of->application % of->buffer) return -EINVAL;
  return moved(of, (long)frames);
}

// Copies frames between the fake's memory and the program's, with separate or interleaved channels.
static snd_pcm_sframes_t copy(struct fake_pcm *of, void **planes, int16_t *samples, long frames) {
  long first = of->application, done = moved(of, frames);
  for (long frame = 0; frame < done; ++frame)
    for (long channel = 0; channel < of->channels; ++channel) {
      int16_t *own = &of->memory[place_of(of, first + frame, channel)];
      int16_t *other = planes ? (int16_t *)planes[channel] + frame
                              : &samples[frame * of->channels + channel];
      if (is_capture(of)) *other = *own;
      else *own = *other;
    }
  return done;
}

snd_pcm_sframes_t snd_pcm_readi(snd_pcm_t *pcm, void *buffer, snd_pcm_uframes_t size) {
  PASS_ON(pcm, snd_pcm_readi, pcm, buffer, size);
  return copy(fake(pcm), NULL, buffer, (long)size);
}

snd_pcm_sframes_t snd_pcm_writei(snd_pcm_t *pcm, const void *buffer, snd_pcm_uframes_t size) {
  PASS_ON(pcm, snd_pcm_writei, pcm, buffer, size);
  return copy(fake(pcm), NULL, (int16_t *)buffer, (long)size);
}

snd_pcm_sframes_t snd_pcm_readn(snd_pcm_t *pcm, void **planes, snd_pcm_uframes_t size) {
  PASS_ON(pcm, snd_pcm_readn, pcm, planes, size);
  return copy(fake(pcm), planes, NULL, (long)size);
}

snd_pcm_sframes_t snd_pcm_writen(snd_pcm_t *pcm, void **planes, snd_pcm_uframes_t size) {
  PASS_ON(pcm, snd_pcm_writen, pcm, planes, size);
  return copy(fake(pcm), planes, NULL, (long)size);
}

int snd_pcm_htimestamp(snd_pcm_t *pcm, snd_pcm_uframes_t *avail, snd_htimestamp_t *time) {
  PASS_ON(pcm, snd_pcm_htimestamp, pcm, avail, time);
  struct fake_pcm *of = fake(pcm);
  if (of->stamp < 0) return -ENOSYS;
  *avail = (snd_pcm_uframes_t)known_frames(of);
  *time = (snd_htimestamp_t){.tv_sec = of->stamp / 1000000000, .tv_nsec = of->stamp % 1000000000};
  return 0;
}

int snd_pcm_delay(snd_pcm_t *pcm, snd_pcm_sframes_t *delay) {
  PASS_ON(pcm, snd_pcm_delay, pcm, delay);
  struct fake_pcm *of = fake(pcm);
  *delay = of->delay;
  if (of->delay_queries > 0 && --of->delay_queries == 0) of->delay = 0;
  return 0;
}

int snd_pcm_prepare(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_prepare, pcm);
  struct fake_pcm *of = fake(pcm);
  of->prepared++;
  of->hardware = of->application = 0;
  of->is_running = false;
  return 0;
}

int snd_pcm_start(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_start, pcm);
  struct fake_pcm *of = fake(pcm);
  of->started++;
  of->is_running = true;
  if (of->companion && of->is_linked) of->companion->is_running = true;
  return 0;
}

int snd_pcm_drop(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_drop, pcm);
  fake(pcm)->dropped++;
  fake(pcm)->is_running = false;
  return 0;
}

int snd_pcm_drain(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_drain, pcm);
  fake(pcm)->drained++;
  return 0;
}

int snd_pcm_resume(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_resume, pcm);
  struct fake_pcm *of = fake(pcm);
  of->is_suspended = ++of->resumed <= of->slow_resumes;
  return of->is_suspended ? -EAGAIN : 0;
}

snd_pcm_state_t snd_pcm_state(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_state, pcm);
  struct fake_pcm *of = fake(pcm);
  if (of->is_suspended) return SND_PCM_STATE_SUSPENDED;
  return of->is_running ? SND_PCM_STATE_RUNNING : SND_PCM_STATE_PREPARED;
}

int snd_pcm_link(snd_pcm_t *one, snd_pcm_t *other) {
  PASS_ON(one, snd_pcm_link, one, other);
  if (fake(one)->refuses_link) return -ENOSYS;
  fake(one)->is_linked = true;
  return 0;
}

snd_pcm_type_t snd_pcm_type(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_type, pcm);
  return fake(pcm)->is_hardware ? SND_PCM_TYPE_HW : SND_PCM_TYPE_IOPLUG;
}

int snd_pcm_poll_descriptors_count(snd_pcm_t *pcm) {
  PASS_ON(pcm, snd_pcm_poll_descriptors_count, pcm);
  return 1;
}

int snd_pcm_poll_descriptors(snd_pcm_t *pcm, struct pollfd *descriptors, unsigned int space) {
  PASS_ON(pcm, snd_pcm_poll_descriptors, pcm, descriptors, space);
  *descriptors = (struct pollfd){.fd = fake(pcm)->descriptor, .events = POLLIN};
  return 1;
}

int snd_pcm_poll_descriptors_revents(snd_pcm_t *pcm, struct pollfd *descriptors,
                                     unsigned int count, unsigned short *events) {
  PASS_ON(pcm, snd_pcm_poll_descriptors_revents, pcm, descriptors, count, events);
  struct fake_pcm *of = fake(pcm);
  of->translated++;
  if (of->is_running) of->hardware += of->step;
  if (of->is_running && of->companion) of->companion->hardware += of->step;
  *events = (unsigned short)(of->events ? of->events : POLLIN);
  return 0;
}
