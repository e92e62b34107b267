// Makes a card tick every period, so that the loopback card has a clock to follow.
#include <unistd.h>

#include "request.h"

int run_clock(const Request *request) {
  // The card plays on without being fed: nobody wakes up, so the clock costs no time of its own.
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
