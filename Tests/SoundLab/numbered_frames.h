// Frames that carry their own number.
//
// Frame n is spread over its channels as two words, so that a frame found anywhere tells which one
// it is. The words leave the two top bits of a sample alone: at -12 dBFS no limiter steps in, and
// no value needs more than the 24 bits that pass through a Float32 unharmed.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *name;  // as ALSA writes it
  int bytes;         // a sample takes in memory
  int depth;         // bits that carry the number's words: 16 or 24
} SampleLayout;

/// The layout called `name`, or NULL.
const SampleLayout *sample_layout(const char *name);

typedef struct {
  SampleLayout layout;
  int channels;
} FrameLayout;

static inline int frame_bytes(const FrameLayout *frames) {
  return frames->layout.bytes * frames->channels;
}

void write_numbered_frame(const FrameLayout *frames, uint64_t number, unsigned char *bytes);
bool holds_numbered_frame(const FrameLayout *frames, uint64_t number, const unsigned char *bytes);
bool holds_silence(const FrameLayout *frames, const unsigned char *bytes);

/// The number that `bytes` claim to be. A single channel only holds the low word: the number
/// nearest to `expected` is meant then.
uint64_t claimed_number(const FrameLayout *frames, uint64_t expected, const unsigned char *bytes);
