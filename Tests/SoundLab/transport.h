// Plays numbered frames and captures what comes back, with buffers so deep that this side never
// loses a frame itself.
#pragma once
#include "request.h"
#include "verdict.h"

typedef struct {
  snd_pcm_t *pcm;
  FrameLayout frames;
  unsigned char *bytes;
  snd_pcm_uframes_t room;
  uint64_t moved;  // frames given to the device, or taken from it
} Transport;

Transport open_player(const Request *request);
Transport open_listener(const Request *request);

/// Plays the next numbers for as long as the device has room.
void play_on(Transport *player);

/// Takes what was captured; returns how many frames lie in `bytes`.
uint64_t listen(Transport *listener);

/// Frames that have passed the device's connector so far.
int64_t device_position(const Transport *transport);
