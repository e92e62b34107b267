// Frames that contain their own number.
//
// The number of frame n is stored in its channels as two words, so that any frame can be
// identified. The words do not use the two top bits of a sample: at -12 dBFS no limiter acts, and
// no value needs more than the 24 bits that a Float32 represents exactly.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *name;  // ALSA's name
  int bytes;         // bytes per sample in memory
  int depth;         // bits used for the number's words: 16 or 24
} SampleLayout;

/// Returns the layout called `name`, or NULL.
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

/// Returns the number that `bytes` encode. A single channel contains only the low word; the result
/// is then the number nearest to `expected`.
uint64_t claimed_number(const FrameLayout *frames, uint64_t expected, const unsigned char *bytes);
