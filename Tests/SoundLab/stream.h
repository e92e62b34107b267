// One direction of a device, opened with exactly the requested settings or not at all.
#pragma once
#include <alsa/asoundlib.h>

#include "numbered_frames.h"

typedef struct {
  const char *device;
  snd_pcm_stream_t direction;
  snd_pcm_access_t access;
  FrameLayout frames;
  unsigned rate;
  snd_pcm_uframes_t period, buffer;
  snd_pcm_uframes_t wake_up;  // poll returns once so many frames can be moved
  bool free_running;          // the device continues whatever the state of its buffer
} StreamWish;

snd_pcm_t *open_stream(StreamWish wish);

/// Ends the program with an error message if `result` is an error; otherwise returns `result`.
long checked(long result, const char *attempt);

/// Sleeps until `pcm` has frames to move. Returns false if a signal asked the program to end.
bool await(snd_pcm_t *pcm);

/// Makes SIGINT and SIGTERM end the command in an orderly way.
void end_on_signals(void);
bool asked_to_end(void);

/// Raises the priority above any load, but below realtime programs and below the kernel worker that
/// delivers the loopback card's ticks: a card whose worker is delayed for a period loses a tick.
void become_attentive(void);

/// Runs at SCHED_FIFO `priority` from now on, with locked memory.
void become_realtime(int priority);
