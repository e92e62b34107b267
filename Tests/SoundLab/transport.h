// Plays numbered frames and captures the returned frames, with buffers so large that this program
// never loses a frame itself.
#pragma once
#include "request.h"
#include "verdict.h"

typedef struct {
  snd_pcm_t *pcm;
  FrameLayout frames;
  unsigned char *bytes;
  snd_pcm_uframes_t room;
  uint64_t moved;  // frames written to the device, or read from it
} Transport;

Transport open_player(const Request *request);
Transport open_listener(const Request *request);

/// Plays the next numbers while the device has room.
void play_on(Transport *player);

/// Reads the captured frames into `bytes`; returns their number.
uint64_t listen(Transport *listener);

/// Returns the number of frames that have passed the device's connector so far.
int64_t device_position(const Transport *transport);
