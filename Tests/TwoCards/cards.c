// Preloaded: makes a PCM without a card, such as ALSA's `null`, report one: all outputs are on card
// 0, and all inputs on the card $INPUT_CARD.
#include <alsa/asoundlib.h>
#include <stdlib.h>

int snd_pcm_info_get_card(const snd_pcm_info_t *info) {
  const char *card = getenv("INPUT_CARD");
  return card && snd_pcm_info_get_stream(info) == SND_PCM_STREAM_CAPTURE ? atoi(card) : 0;
}
