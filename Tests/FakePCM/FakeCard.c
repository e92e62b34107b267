#define _GNU_SOURCE
#include "include/FakeCard.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "PassingOn.h"

enum { most_cards = 32 };

static struct fake_card *cards[most_cards];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The fake's data in the memory of alsa-lib's information blocks, after a mark that no real block
// has.
static const uint64_t mark = 0xfa4eca4dfa4eca4dULL;
struct block {
  uint64_t mark;
  const struct fake_card *card;
  const struct fake_device *device;
};
#define BLOCK(pointer) ((struct block *)(void *)(pointer))
#define PASS_ON_BLOCK(pointer, name, ...) \
  if (BLOCK(pointer)->mark != mark) return ALSAS(name)(__VA_ARGS__)
#define PASS_ON_CARD(handle, name, ...) \
  if (!card_of(handle)) return ALSAS(name)(__VA_ARGS__)

struct fake_card *fake_card_plug(int number) {
  struct fake_card *made = calloc(1, sizeof *made);
  made->number = number;
  pthread_mutex_lock(&mutex);
  if (cards[number]) abort();
  cards[number] = made;
  pthread_mutex_unlock(&mutex);
  return made;
}

void fake_card_unplug(struct fake_card *card) {
  pthread_mutex_lock(&mutex);
  cards[card->number] = NULL;
  pthread_mutex_unlock(&mutex);
  free(card);
}

static struct fake_card *numbered(int number) {
  pthread_mutex_lock(&mutex);
  struct fake_card *found = number >= 0 && number < most_cards ? cards[number] : NULL;
  pthread_mutex_unlock(&mutex);
  return found;
}

// The handle of a fake is the address of its structure, which no other object has.
static struct fake_card *card_of(const void *handle) {
  struct fake_card *found = NULL;
  pthread_mutex_lock(&mutex);
  for (int number = 0; number < most_cards && !found; ++number)
    if (handle && cards[number] == handle) found = cards[number];
  pthread_mutex_unlock(&mutex);
  return found;
}

bool is_on_fake_card(const char *pcm) {
  char id[sizeof cards[0]->id] = "";
  bool is_found = false;
  if (sscanf(pcm, "hw:CARD=%15[^,]", id) != 1) return false;
  pthread_mutex_lock(&mutex);
  for (int number = 0; number < most_cards; ++number)
    if (cards[number] && strcmp(cards[number]->id, id) == 0) is_found = true;
  pthread_mutex_unlock(&mutex);
  return is_found;
}

// alsa-lib itself, which calls these functions for its list of names, knows no fake card.
static _Thread_local bool is_inside;

int snd_card_next(int *number) {
  is_inside = true;
  int result = ALSAS(snd_card_next)(number);
  is_inside = false;
  return result;
}

int snd_card_load(int number) {
  return !is_inside && numbered(number) ? 1 : ALSAS(snd_card_load)(number);
}

int snd_ctl_open(snd_ctl_t **control, const char *name, int mode) {
  int number = -1;
  struct fake_card *card = sscanf(name, "hw:%d", &number) == 1 ? numbered(number) : NULL;
  if (!card) return ALSAS(snd_ctl_open)(control, name, mode);
  if (card->open_code) return card->open_code;
  card->opened++;
  *control = (snd_ctl_t *)card;
  return 0;
}

int snd_ctl_close(snd_ctl_t *control) {
  PASS_ON_CARD(control, snd_ctl_close, control);
  card_of(control)->closed++;
  return 0;
}

int snd_ctl_card_info(snd_ctl_t *control, snd_ctl_card_info_t *info) {
  PASS_ON_CARD(control, snd_ctl_card_info, control, info);
  *BLOCK(info) = (struct block){.mark = mark, .card = card_of(control)};
  return 0;
}

const char *snd_ctl_card_info_get_id(const snd_ctl_card_info_t *info) {
  PASS_ON_BLOCK(info, snd_ctl_card_info_get_id, info);
  return BLOCK(info)->card->id;
}

const char *snd_ctl_card_info_get_name(const snd_ctl_card_info_t *info) {
  PASS_ON_BLOCK(info, snd_ctl_card_info_get_name, info);
  return BLOCK(info)->card->name;
}

int snd_ctl_pcm_next_device(snd_ctl_t *control, int *device) {
  PASS_ON_CARD(control, snd_ctl_pcm_next_device, control, device);
  int next = *device + 1;
  while (next < fake_devices && !card_of(control)->devices[next].title[0]) ++next;
  *device = next < fake_devices ? next : -1;
  return 0;
}

int snd_ctl_pcm_info(snd_ctl_t *control, snd_pcm_info_t *info) {
  PASS_ON_CARD(control, snd_ctl_pcm_info, control, info);
  unsigned int number = snd_pcm_info_get_device(info);
  if (number >= fake_devices) return -ENXIO;
  const struct fake_device *device = &card_of(control)->devices[number];
  bool is_capture = snd_pcm_info_get_stream(info) == SND_PCM_STREAM_CAPTURE;
  if (!(is_capture ? device->can_capture : device->can_play)) return -ENOENT;
  *BLOCK(info) = (struct block){.mark = mark, .device = device};
  return 0;
}

const char *snd_pcm_info_get_name(const snd_pcm_info_t *info) {
  PASS_ON_BLOCK(info, snd_pcm_info_get_name, info);
  return BLOCK(info)->device->title;
}

unsigned int snd_pcm_info_get_subdevices_count(const snd_pcm_info_t *info) {
  PASS_ON_BLOCK(info, snd_pcm_info_get_subdevices_count, info);
  return (unsigned int)BLOCK(info)->device->subdevices;
}
