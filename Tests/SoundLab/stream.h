// One direction of one device, opened exactly as asked or not at all.
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
  bool free_running;          // the device goes on whatever becomes of its buffer
} StreamWish;

snd_pcm_t *open_stream(StreamWish wish);

/// Ends the program with a sentence when `result` is an error; else hands it through.
long checked(long result, const char *attempt);

/// Sleeps until `pcm` has frames to move. False when a signal asked the program to end.
bool await(snd_pcm_t *pcm);

/// SIGINT and SIGTERM end the command in good order.
void end_on_signals(void);
bool asked_to_end(void);

/// Goes before any load, but stays behind realtime programs and behind the kernel's worker that
/// delivers the loopback card's ticks: kept from that for a period, the card loses one.
void become_attentive(void);

/// Runs at SCHED_FIFO `priority` from now on, with its memory locked.
void become_realtime(int priority);
