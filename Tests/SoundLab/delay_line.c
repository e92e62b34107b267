#include "delay_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A sinc with a Kaiser window, `reach` frames to either side of the requested instant. Its error is
// below -130 dB up to 0.45 of the rate.
enum { reach = 48, taps = 2 * reach, longest = 200000 };
static const double kaiser_beta = 14;

struct DelayLine {
  int step;      // bytes per frame
  int channels;  // per frame
  int bytes;     // bytes per sample

  // The integer part of the delay: the ring buffer has room for `length` frames and the newest one.
  unsigned char *ring;
  size_t length, position;

  // The fractional part of the delay, if not zero: the latest samples from the ring buffer, by
  // channel. They are stored twice, one copy after the other, so that the last `taps` samples are
  // always contiguous.
  bool interpolates;
  double filter[taps], (*recent)[2 * taps];
  int oldest;
};

const char *delay_objection(const FrameLayout *frames, double delay) {
  if (!(delay >= 0 && delay <= longest)) return "a delay is 0 to 200000 frames";
  if (delay == floor(delay)) return NULL;
  if (delay < reach - 1) return "a delay with a fraction is at least 47 frames";
  if (strcmp(frames->layout.name, "S16_LE") && strcmp(frames->layout.name, "S32_LE"))
    return "only S16_LE and S32_LE can be delayed by a fraction of a frame";
  return NULL;
}

// Returns the modified Bessel function of order zero.
static double bessel(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > 1e-17 * sum; k++) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

static double windowed_sinc(double at) {
  double sinc = at == 0 ? 1 : sin(M_PI * at) / (M_PI * at);
  double window = bessel(kaiser_beta * sqrt(1 - at * at / (reach * reach)));
  return sinc * window / bessel(kaiser_beta);
}

DelayLine *new_delay_line(const FrameLayout *frames, double delay) {
  DelayLine *line = calloc(1, sizeof *line);
  if (!line) return NULL;
  double fraction = delay - floor(delay);
  line->step = frame_bytes(frames);
  line->channels = frames->channels;
  line->bytes = frames->layout.bytes;
  line->interpolates = fraction > 0;
  // The filter has a delay of its own, because it needs later samples.
  line->length = (size_t)delay - (line->interpolates ? reach - 1 : 0);
  for (int i = 0; i < taps; i++) line->filter[i] = windowed_sinc(reach - i - fraction);
  line->ring = calloc(line->length + 1, (size_t)line->step);
  line->recent = calloc((size_t)line->channels, sizeof *line->recent);
  return line->ring && line->recent ? line : NULL;
}

static double load(const unsigned char *sample, int bytes) {
  int16_t narrow;
  int32_t wide;
  if (bytes == 2) return memcpy(&narrow, sample, 2), narrow;
  return memcpy(&wide, sample, 4), wide;
}

static void store(double value, unsigned char *sample, int bytes) {
  double largest = bytes == 2 ? INT16_MAX : INT32_MAX;
  int32_t nearest = (int32_t)lrint(fmax(-largest - 1, fmin(largest, value)));
  memcpy(sample, &nearest, (size_t)bytes);  // the low bytes come first
}

static void interpolate(DelayLine *line, unsigned char *frame) {
  int oldest = line->oldest;
  for (int channel = 0; channel < line->channels; channel++) {
    unsigned char *sample = frame + channel * line->bytes;
    double *recent = line->recent[channel], sum = 0;
    recent[oldest] = recent[oldest + taps] = load(sample, line->bytes);
    for (int i = 0; i < taps; i++) sum += line->filter[i] * recent[oldest + 1 + i];
    store(sum, sample, line->bytes);
  }
  line->oldest = (oldest + 1) % taps;
}

void hold_back(DelayLine *line, const unsigned char *from, unsigned char *to, size_t count) {
  size_t step = (size_t)line->step;
  for (; count > 0; count--, from += step, to += step) {
    memcpy(line->ring + line->position * step, from, step);
    if (++line->position > line->length) line->position = 0;
    memcpy(to, line->ring + line->position * step, step);
    if (line->interpolates) interpolate(line, to);
  }
}
