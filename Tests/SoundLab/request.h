// The settings from the command line.
#pragma once
#include "stream.h"

typedef struct {
  const char *capture, *playback, *file, *save;
  FrameLayout frames;
  unsigned rate;
  snd_pcm_uframes_t period;
  long headroom;
  double seconds, skip;
  double delay;  // in frames
} Request;

// The commands: each prints one JSON line and returns the exit status.
int run_clock(const Request *request);
int run_loop(const Request *request);
int run_play(const Request *request);
int run_capture(const Request *request);
int run_verify(const Request *request);
int run_wire(const Request *request);
int run_hog(const Request *request);
