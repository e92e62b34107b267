// The commands that play and capture numbered frames.
#include <time.h>

#include "transport.h"

static FILE *open_save(const Request *request) {
  FILE *file = request->save ? fopen(request->save, "wb") : NULL;
  if (request->save && !file) checked(-errno, request->save);
  return file;
}

static int64_t clocks_apart_now(const Transport *player, const Transport *listener) {
  return device_position(player) - device_position(listener);
}

/// Returns the number of frames by which the player's timeline is ahead of the listener's.
///
/// Both start with one call, but a tick may occur between the two starts; they then remain a period
/// apart. The device positions show this, except during the delivery of a tick, so the majority of
/// many readings is used.
static int64_t clocks_apart(const Request *request, const Transport *player,
                            const Transport *listener) {
  enum { looks = 21 };
  int64_t seen[looks], best = 0;
  int maximum = 0;
  // A fraction of the period, so that the readings occur at different points of it. All readings
  // take six periods, during which no buffer runs empty.
  long pause = (long)(0.3 * 1e9 * (double)request->period / request->rate);
  for (int i = 0; i < looks; i++) {
    nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    seen[i] = clocks_apart_now(player, listener);
    int alike = 0;
    for (int j = 0; j <= i; j++) alike += seen[j] == seen[i];
    if (alike > maximum) maximum = alike, best = seen[i];
  }
  if (maximum <= looks / 2) checked(-EPROTO, "line up the two streams");
  return best;
}

static int finish(const Verdict *verdict, int64_t correction, const char *more, FILE *save) {
  print_verdict(verdict, correction, more);
  if (save) fclose(save);
  return flawless(verdict) ? 0 : 1;
}

static void hear(Transport *listener, Verdict *verdict, FILE *save) {
  uint64_t frames = listen(listener);
  judge(verdict, listener->bytes, frames);
  if (save) fwrite(listener->bytes, (size_t)frame_bytes(&listener->frames), frames, save);
}

int run_loop(const Request *request) {
  Transport player = open_player(request), listener = open_listener(request);
  Verdict verdict = verdict_on(request->frames, (uint64_t)(request->skip * request->rate));
  FILE *save = open_save(request);
  become_attentive();
  checked(snd_pcm_link(player.pcm, listener.pcm), "link");
  checked(snd_pcm_prepare(player.pcm), "prepare");
  play_on(&player);
  checked(snd_pcm_start(player.pcm), "start");

  int64_t apart = clocks_apart(request, &player, &listener);
  uint64_t wanted = (uint64_t)(request->seconds * request->rate);
  while (listener.moved < wanted && await(listener.pcm)) {
    hear(&listener, &verdict, save);
    play_on(&player);
  }
  char more[64];
  snprintf(more, sizeof more, ",\"startedApartFrames\":%lld", (long long)apart);
  // Number 1 was played at position 0.
  return finish(&verdict, apart + 1, more, save);
}

int run_capture(const Request *request) {
  Transport listener = open_listener(request);
  Verdict verdict = verdict_on(request->frames, (uint64_t)(request->skip * request->rate));
  FILE *save = open_save(request);
  become_attentive();
  checked(snd_pcm_prepare(listener.pcm), "prepare");
  checked(snd_pcm_start(listener.pcm), "start");
  uint64_t wanted = (uint64_t)(request->seconds * request->rate);
  while (listener.moved < wanted && await(listener.pcm)) hear(&listener, &verdict, save);
  return finish(&verdict, 0, "", save);
}

int run_play(const Request *request) {
  Transport player = open_player(request);
  become_attentive();
  checked(snd_pcm_prepare(player.pcm), "prepare");
  play_on(&player);
  checked(snd_pcm_start(player.pcm), "start");
  uint64_t wanted = (uint64_t)(request->seconds * request->rate);
  while ((uint64_t)device_position(&player) < wanted && await(player.pcm)) play_on(&player);
  printf("{\"frames\":%lld}\n", (long long)device_position(&player));
  return 0;
}
