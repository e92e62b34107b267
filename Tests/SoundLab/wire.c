// The minimal loop from input to output: the reference for measurements of duplex programs.
//
// Captured frames are copied to the output once per period. With `headroom` frames still queued
// when they arrive, the latency from input to output is one period plus the headroom, the minimum
// for any program. A delay is added to that; it simulates a device's converters, or the path
// through air.
#include <sys/resource.h>

#include "delay_line.h"
#include "request.h"

/// Copies frames through `line`; `line` is NULL if there is no added delay.
static void copy(DelayLine *line, const snd_pcm_channel_area_t *from, snd_pcm_uframes_t from_offset,
                 const snd_pcm_channel_area_t *to, snd_pcm_uframes_t to_offset,
                 snd_pcm_uframes_t frames) {
  unsigned step = from->step / 8;
  unsigned char *source = (unsigned char *)from->addr + from_offset * step;
  unsigned char *target = (unsigned char *)to->addr + to_offset * step;
  if (line)
    hold_back(line, source, target, frames);
  else
    memcpy(target, source, frames * step);
}

/// Copies at most `frames` captured frames to the output. Returns their number.
static snd_pcm_uframes_t pass_on(snd_pcm_t *capture, snd_pcm_t *playback, DelayLine *line,
                                 snd_pcm_uframes_t frames) {
  const snd_pcm_channel_area_t *from, *to;
  snd_pcm_uframes_t from_offset, to_offset, room = frames;
  checked(snd_pcm_mmap_begin(capture, &from, &from_offset, &frames), "reach captured frames");
  checked(snd_pcm_mmap_begin(playback, &to, &to_offset, &room), "reach the output's room");
  if (room < frames) frames = room;
  copy(line, from, from_offset, to, to_offset, frames);
  checked(snd_pcm_mmap_commit(playback, to_offset, frames), "play");
  checked(snd_pcm_mmap_commit(capture, from_offset, frames), "release captured frames");
  return frames;
}

static void queue_silence(snd_pcm_t *playback, snd_pcm_uframes_t frames) {
  const snd_pcm_channel_area_t *areas;
  snd_pcm_uframes_t offset, some;
  checked(snd_pcm_avail_update(playback), "ask for room");
  for (; frames > 0; frames -= some) {
    some = frames;
    checked(snd_pcm_mmap_begin(playback, &areas, &offset, &some), "reach the output's room");
    memset((char *)areas->addr + offset * (areas->step / 8), 0, some * (areas->step / 8));
    checked(snd_pcm_mmap_commit(playback, offset, some), "queue silence");
  }
}

int run_wire(const Request *request) {
  StreamWish wish = {
      .device = request->capture,
      .direction = SND_PCM_STREAM_CAPTURE,
      .access = SND_PCM_ACCESS_MMAP_INTERLEAVED,
      .frames = request->frames,
      .rate = request->rate,
      .period = request->period,
      .buffer = request->period * 8,
      .wake_up = request->period,
  };
  snd_pcm_t *capture = open_stream(wish);
  wish.device = request->playback;
  wish.direction = SND_PCM_STREAM_PLAYBACK;
  snd_pcm_t *playback = open_stream(wish);
  DelayLine *line = request->delay > 0 ? new_delay_line(&request->frames, request->delay) : NULL;
  if (request->delay > 0 && !line) checked(-ENOMEM, "delay frames");
  become_realtime(70);

  checked(snd_pcm_link(capture, playback), "link");
  checked(snd_pcm_prepare(capture), "prepare");
  queue_silence(playback, request->period + (snd_pcm_uframes_t)request->headroom);
  checked(snd_pcm_start(capture), "start");

  uint64_t wanted = (uint64_t)(request->seconds * request->rate), moved = 0;
  while (moved < wanted && await(capture)) {
    long ready = checked(snd_pcm_avail_update(capture), "capture");
    checked(snd_pcm_avail_update(playback), "play");
    // Twice if the ring buffer wraps.
    while (ready > 0) {
      snd_pcm_uframes_t passed = pass_on(capture, playback, line, (snd_pcm_uframes_t)ready);
      if (passed == 0) break;
      ready -= (long)passed;
      moved += passed;
    }
  }

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("{\"frames\":%lu,\"wakeUps\":%ld}\n", (unsigned long)moved, usage.ru_nvcsw);
  snd_pcm_close(capture);
  snd_pcm_close(playback);
  return 0;
}
