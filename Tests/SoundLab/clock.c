// Makes a card tick every period, to provide a clock for the loopback card.
#include <unistd.h>

#include "request.h"

int run_clock(const Request *request) {
  // The card plays without being fed and without wake-ups, so the clock uses no processor time.
  snd_pcm_t *pcm = open_stream((StreamWish){
      .device = request->playback,
      .direction = SND_PCM_STREAM_PLAYBACK,
      .access = SND_PCM_ACCESS_RW_INTERLEAVED,
      .frames = request->frames,
      .rate = request->rate,
      .period = request->period,
      .buffer = 8192 / request->period * request->period,
      .wake_up = request->period,
      .free_running = true,
  });
  checked(snd_pcm_prepare(pcm), "prepare");
  checked(snd_pcm_start(pcm), "start");
  printf("{\"periodFrames\":%lu}\n", request->period);
  fflush(stdout);
  while (!asked_to_end()) pause();
  snd_pcm_close(pcm);
  return 0;
}
