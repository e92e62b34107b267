#define _GNU_SOURCE
#include "include/FakeMixer.h"

#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every mixer in the test program is a fake; no other test opens one. A handle is the address of a
// `struct opened`, an element is the address of a `struct fake_control`.
enum { most_mixers = 64 };

struct opened {
  struct fake_mixer *mixer;
};

static struct fake_mixer *mixers[most_mixers];
static int mixer_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct fake_mixer *fake_mixer_make(void) {
  struct fake_mixer *made = calloc(1, sizeof *made);
  pthread_mutex_lock(&mutex);
  if (mixer_count == most_mixers) abort();
  snprintf(made->name, sizeof made->name, "fake-mixer-%d", mixer_count);
  mixers[mixer_count++] = made;
  pthread_mutex_unlock(&mutex);
  return made;
}

int snd_mixer_open(snd_mixer_t **mixer, int mode) {
  (void)mode;
  *mixer = (snd_mixer_t *)calloc(1, sizeof(struct opened));
  return 0;
}

int snd_mixer_attach(snd_mixer_t *mixer, const char *name) {
  struct opened *opened = (struct opened *)mixer;
  pthread_mutex_lock(&mutex);
  for (int index = 0; index < mixer_count; ++index)
    if (strcmp(mixers[index]->name, name) == 0) opened->mixer = mixers[index];
  pthread_mutex_unlock(&mutex);
  if (!opened->mixer) return -ENOENT;
  if (opened->mixer->attach_code) return opened->mixer->attach_code;
  opened->mixer->opened++;
  return 0;
}

int snd_mixer_close(snd_mixer_t *mixer) {
  struct opened *opened = (struct opened *)mixer;
  if (opened->mixer && !opened->mixer->attach_code) opened->mixer->closed++;
  free(opened);
  return 0;
}

int snd_mixer_selem_register(snd_mixer_t *mixer, struct snd_mixer_selem_regopt *options,
                             snd_mixer_class_t **class) {
  (void)mixer, (void)options, (void)class;
  return 0;
}

int snd_mixer_load(snd_mixer_t *mixer) {
  (void)mixer;
  return 0;
}

snd_mixer_elem_t *snd_mixer_first_elem(snd_mixer_t *mixer) {
  struct fake_mixer *of = ((struct opened *)mixer)->mixer;
  return of->count > 0 ? (snd_mixer_elem_t *)&of->controls[0] : NULL;
}

snd_mixer_elem_t *snd_mixer_elem_next(snd_mixer_elem_t *element) {
  struct fake_control *next = (struct fake_control *)element + 1;
  for (int index = 0; index < mixer_count; ++index) {
    struct fake_mixer *of = mixers[index];
    if (next > of->controls && next < of->controls + of->count) return (snd_mixer_elem_t *)next;
  }
  return NULL;
}

static struct fake_control *control(snd_mixer_elem_t *element) {
  return (struct fake_control *)element;
}

const char *snd_mixer_selem_get_name(snd_mixer_elem_t *element) { return control(element)->name; }

unsigned int snd_mixer_selem_get_index(snd_mixer_elem_t *element) {
  (void)element;
  return 0;
}

// The same functions for both directions.
#define FOR_DIRECTION(direction, is_ours)                                                           \
  int snd_mixer_selem_has_##direction##_volume(snd_mixer_elem_t *element) {                         \
    return control(element)->has_volume && is_ours;                                                 \
  }                                                                                                 \
  int snd_mixer_selem_has_##direction##_switch(snd_mixer_elem_t *element) {                         \
    return control(element)->has_switch && is_ours;                                                 \
  }                                                                                                 \
  int snd_mixer_selem_has_##direction##_channel(snd_mixer_elem_t *element,                          \
                                                snd_mixer_selem_channel_id_t channel) {             \
    return is_ours && (int)channel < fake_channels;                                                 \
  }                                                                                                 \
  int snd_mixer_selem_get_##direction##_volume_range(snd_mixer_elem_t *element, long *lowest,       \
                                                     long *highest) {                               \
    *lowest = control(element)->lowest;                                                             \
    *highest = control(element)->highest;                                                           \
    return 0;                                                                                       \
  }                                                                                                 \
  int snd_mixer_selem_get_##direction##_volume(                                                     \
      snd_mixer_elem_t *element, snd_mixer_selem_channel_id_t channel, long *value) {               \
    *value = control(element)->volumes[channel];                                                    \
    return 0;                                                                                       \
  }                                                                                                 \
  int snd_mixer_selem_set_##direction##_volume(                                                     \
      snd_mixer_elem_t *element, snd_mixer_selem_channel_id_t channel, long value) {                \
    if (control(element)->is_fixed) return -EPERM;                                                  \
    control(element)->volumes[channel] = value;                                                     \
    return 0;                                                                                       \
  }                                                                                                 \
  int snd_mixer_selem_get_##direction##_switch(                                                     \
      snd_mixer_elem_t *element, snd_mixer_selem_channel_id_t channel, int *value) {                \
    *value = control(element)->switches[channel];                                                   \
    return 0;                                                                                       \
  }                                                                                                 \
  int snd_mixer_selem_ask_##direction##_vol_dB(snd_mixer_elem_t *element, long value,               \
                                               long *decibels) {                                    \
    struct fake_control *of = control(element);                                                     \
    if (!of->has_decibels) return -EINVAL;                                                          \
    *decibels = (value - of->highest) * of->step;                                                   \
    return 0;                                                                                       \
  }                                                                                                 \
  int snd_mixer_selem_ask_##direction##_dB_vol(snd_mixer_elem_t *element, long decibels,            \
                                               int rounding, long *value) {                         \
    (void)rounding;                                                                                 \
    struct fake_control *of = control(element);                                                     \
    if (!of->has_decibels) return -EINVAL;                                                          \
    *value = of->highest + decibels / of->step;                                                     \
    return 0;                                                                                       \
  }

FOR_DIRECTION(capture, control(element)->is_capture)
FOR_DIRECTION(playback, !control(element)->is_capture)
