#include "numbered_frames.h"

#include <math.h>
#include <string.h>

static const SampleLayout layouts[] = {
    {"S16_LE", 2, 16}, {"S24_3LE", 3, 24}, {"S24_LE", 4, 24}, {"S32_LE", 4, 24}, {"FLOAT_LE", 4, 24},
};

const SampleLayout *sample_layout(const char *name) {
  for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (!strcmp(layouts[i].name, name)) return &layouts[i];
  return NULL;
}

// Stores and loads one sample as a signed 24-bit value, in any container format.

static void store(const SampleLayout *layout, int32_t value, unsigned char *bytes) {
  uint32_t bits = (uint32_t)value;
  if (layout->name[0] == 'F') {
    float real = ldexpf((float)value, -23);
    memcpy(&bits, &real, sizeof bits);
  } else if (layout->bytes == 2) {
    bits = (uint32_t)value >> 8;
  } else if (!strcmp(layout->name, "S32_LE")) {
    bits = (uint32_t)value << 8;
  }
  for (int i = 0; i < layout->bytes; i++) bytes[i] = (unsigned char)(bits >> 8 * i);
}

static int32_t load(const SampleLayout *layout, const unsigned char *bytes) {
  uint32_t bits = 0;
  for (int i = 0; i < layout->bytes; i++) bits |= (uint32_t)bytes[i] << 8 * i;
  if (layout->name[0] == 'F') {
    float real;
    memcpy(&real, &bits, sizeof real);
    return (int32_t)ldexpf(real, 23);
  }
  if (layout->bytes == 2) bits <<= 16;
  if (layout->bytes == 3 || !strcmp(layout->name, "S24_LE")) bits <<= 8;
  return (int32_t)bits >> 8;
}

// Each number is stored as two words. The second word is mixed with a hash of the first, so that it
// changes with every frame and an altered sample in either word yields an implausible number.

static int word_bits(const FrameLayout *frames) { return frames->layout.depth - 2; }

static uint64_t word_mask(const FrameLayout *frames) { return (1ull << word_bits(frames)) - 1; }

static uint64_t stirred(uint64_t low) { return low * 0x9E3779B1ull; }

static int32_t sample_of(const FrameLayout *frames, uint64_t number, int channel) {
  // Every pair of channels counts from a different start, so that swapped pairs are detected.
  number += 7919ull * (unsigned)(channel / 2);
  uint64_t low = number & word_mask(frames);
  uint64_t word = channel % 2 ? (number >> word_bits(frames)) + stirred(low) : low;
  int unused = 32 - word_bits(frames);
  int32_t value = (int32_t)((uint32_t)(word & word_mask(frames)) << unused) >> unused;
  return value * (1 << (24 - frames->layout.depth));
}

static uint64_t word_of(const FrameLayout *frames, int32_t sample) {
  return (uint64_t)(sample >> (24 - frames->layout.depth)) & word_mask(frames);
}

void write_numbered_frame(const FrameLayout *frames, uint64_t number, unsigned char *bytes) {
  for (int channel = 0; channel < frames->channels; channel++)
    store(&frames->layout, sample_of(frames, number, channel),
          bytes + channel * frames->layout.bytes);
}

bool holds_numbered_frame(const FrameLayout *frames, uint64_t number, const unsigned char *bytes) {
  for (int channel = 0; channel < frames->channels; channel++) {
    unsigned char sample[4];
    store(&frames->layout, sample_of(frames, number, channel), sample);
    // The driver may set the fourth byte of S24_LE, so the sample values are compared, not the
    // bytes.
    if (load(&frames->layout, sample) !=
        load(&frames->layout, bytes + channel * frames->layout.bytes))
      return false;
  }
  return true;
}

bool holds_silence(const FrameLayout *frames, const unsigned char *bytes) {
  for (int i = 0; i < frame_bytes(frames); i++)
    if (bytes[i]) return false;
  return true;
}

uint64_t claimed_number(const FrameLayout *frames, uint64_t expected, const unsigned char *bytes) {
  uint64_t low = word_of(frames, load(&frames->layout, bytes));
  if (frames->channels == 1) {
    int unused = 64 - word_bits(frames);
    int64_t away = (int64_t)((low - expected) << unused) >> unused;
    return expected + (uint64_t)away;
  }
  uint64_t second = word_of(frames, load(&frames->layout, bytes + frames->layout.bytes));
  uint64_t high = (second - stirred(low)) & word_mask(frames);
  return high << word_bits(frames) | low;
}
