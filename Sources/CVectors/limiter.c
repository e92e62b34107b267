// The processing of frames by a limiter, and linear gain ramps.
#include "vectors.h"

// Returns the peaks of eight frames of one or two channels. If not `is_ordered`, a NaN sample never
// compares as higher, and the peaks of stereo frames are in another order.
BODY float8 frame_peaks(int is_stereo, int is_ordered, const float *samples) {
  if (!is_stereo) return magnitudes(load8(samples));
  const float8 first = magnitudes(load8(samples)), second = magnitudes(load8(samples + 8));
  const float8 left = __builtin_shufflevector(first, second, 0, 2, 8, 10, 4, 6, 12, 14);
  const float8 right = __builtin_shufflevector(first, second, 1, 3, 9, 11, 5, 7, 13, 15);
  const float8 peaks = higher(right, is_ordered ? left : higher(left, (float8)0));
  return is_ordered ? __builtin_shufflevector(peaks, peaks, 0, 1, 4, 5, 2, 3, 6, 7) : peaks;
}

BODY float8 lower(float8 first, float8 second) { return first < second ? first : second; }

BODY float8 bounded(float8 samples, float limit) {
  const float8 lowered = lower((float8)limit, samples);
  return higher((float8)-limit, lowered);
}

BODY float peak_of(const float *frame, long channels) {
  float peak = 0;
  for (long channel = 0; channel < channels; channel++) {
    const float magnitude = fabsf(frame[channel]);
    if (magnitude > peak) peak = magnitude;
  }
  return peak;
}

// Returns eight times the last of eight values.
BODY float8 last_of(float8 eight) { return __builtin_shufflevector(eight, eight, 7, 7, 7, 7, 7, 7, 7, 7); }

// Processes eight frames at a time, none of them NaN; returns the number of frames processed. The
// target decreases to the gain that each peak requires. The gain of a frame is therefore the minimum
// of the gains that the peaks up to this frame require, the target, and the previous gain increased
// by its steps.
BODY long limit_eights(int is_stereo, LimiterGain *limiter, float *samples, long frames) {
  const float limit = limiter->limit;
  const float8 one = 1, steps = limiter->step * (float8){1, 2, 3, 4, 5, 6, 7, 8};
  const float8 brought_to = limiter->brought_to;
  float8 gain = limiter->gain, target = limiter->target;
  long frame = 0;
  for (; frame + 8 <= frames; frame += 8) {
    float *eight = samples + (is_stereo ? 2 * frame : frame);
    const float8 peaks = frame_peaks(is_stereo, 1, eight);
    const integer8 is_above = peaks > (float8)limit;
    float8 needed = is_above ? brought_to / peaks : one;
    needed = lower(needed, __builtin_shufflevector(needed, one, 8, 0, 1, 2, 3, 4, 5, 6));
    needed = lower(needed, __builtin_shufflevector(needed, one, 8, 9, 0, 1, 2, 3, 4, 5));
    needed = lower(needed, __builtin_shufflevector(needed, one, 8, 9, 10, 11, 0, 1, 2, 3));
    const float8 gains = lower(needed, lower(higher(target, gain), gain + steps));
    if (is_stereo) {
      const float8 early = __builtin_shufflevector(gains, gains, 0, 0, 1, 1, 2, 2, 3, 3);
      const float8 late = __builtin_shufflevector(gains, gains, 4, 4, 5, 5, 6, 6, 7, 7);
      store8(eight, bounded(load8(eight) * early, limit));
      store8(eight + 8, bounded(load8(eight + 8) * late, limit));
    } else {
      store8(eight, bounded(load8(eight) * gains, limit));
    }
    target = lower(target, last_of(needed));
    gain = last_of(gains);
  }
  limiter->gain = gain[0];
  limiter->target = target[0];
  return frame;
}

// Multiplies each frame by the gain. The gain and the target decrease to the gain that a frame
// requires.
BODY void vectors_limit_frames_body(LimiterGain *limiter, float *samples, long channels, long frames) {
  const float limit = limiter->limit;
  long frame = 0;
  if (channels == 1) frame = limit_eights(0, limiter, samples, frames);
  if (channels == 2) frame = limit_eights(1, limiter, samples, frames);
  float gain = limiter->gain, target = limiter->target;
  for (; frame < frames; frame++) {
    float *first = samples + channels * frame;
    const float peak = peak_of(first, channels);
    const float risen = gain + limiter->step;
    if (gain < target) gain = risen < target ? risen : target;
    if (peak > limit) {
      const float needed = limiter->brought_to / peak;
      if (needed < target) target = needed;
      if (needed < gain) gain = needed;
    }
    for (long channel = 0; channel < channels; channel++) {
      const float scaled = first[channel] * gain;
      first[channel] = scaled > limit ? limit : scaled < -limit ? -limit : scaled;
    }
  }
  limiter->gain = gain;
  limiter->target = target;
}
TWO_VERSIONS(
    void, vectors_limit_frames, (LimiterGain *limiter, float *samples, long channels, long frames), limiter, samples,
    channels, frames)

BODY long vectors_frames_above_body(const float *samples, long channels, long frames, float limit) {
  integer8 count = 0;
  long frame = 0;
  if (channels == 1 || channels == 2) {
    for (; frame + 8 <= frames; frame += 8) {
      const float8 peaks =
          channels == 2 ? frame_peaks(1, 0, samples + 2 * frame) : frame_peaks(0, 0, samples + frame);
      count -= peaks > (float8)limit;
    }
  }
  long above = __builtin_reduce_add(count);
  for (; frame < frames; frame++) above += peak_of(samples + channels * frame, channels) > limit;
  return above;
}
TWO_VERSIONS(
    long, vectors_frames_above, (const float *samples, long channels, long frames, float limit), samples, channels,
    frames, limit)

// Multiplies whole groups of eight samples of one or two channels; returns the number of frames.
BODY long ramp_eights(long channels, float *samples, long frames, float gain, float step) {
  const long frames_of_eight = 8 / channels;
  float8 index = channels == 1 ? (float8){0, 1, 2, 3, 4, 5, 6, 7} : (float8){0, 0, 1, 1, 2, 2, 3, 3};
  long frame = 0;
#pragma clang loop unroll_count(4)
  for (; frame + frames_of_eight <= frames; frame += frames_of_eight) {
    float *eight = samples + channels * frame;
    store8(eight, load8(eight) * (gain + step * index));
    index += (float)frames_of_eight;
  }
  return frame;
}

BODY void vectors_ramp_body(float *samples, long channels, long frames, float gain, float step) {
  long frame = 0;
  if (channels == 1) frame = ramp_eights(1, samples, frames, gain, step);
  if (channels == 2) frame = ramp_eights(2, samples, frames, gain, step);
  for (; frame < frames; frame++) {
    const float factor = gain + step * (float)frame;
    for (long channel = 0; channel < channels; channel++) samples[channels * frame + channel] *= factor;
  }
}
TWO_VERSIONS(
    void, vectors_ramp, (float *samples, long channels, long frames, float gain, float step), samples, channels, frames,
    gain, step)

// The highest magnitudes in a block, and the number of frames above a limit, in eight lanes.
typedef struct {
  integer8 highest, above;
} MeasuredEights;

// Adds eight frames of one or two channels.
BODY void measure_eight(int is_stereo, const float *eight, integer8 limits, MeasuredEights *measured) {
  integer8 peaks = magnitude_bits(eight);
  if (is_stereo) {
    const integer8 second = magnitude_bits(eight + 8);
    peaks = higher_bits(
        __builtin_shufflevector(peaks, second, 0, 2, 8, 10, 4, 6, 12, 14),
        __builtin_shufflevector(peaks, second, 1, 3, 9, 11, 5, 7, 13, 15));
  }
  measured->highest = higher_bits(peaks, measured->highest);
  measured->above -= peaks > limits;
}

// Measures frames of one or two channels, eight at a time; returns the number of frames measured.
BODY long measure_eights(int is_stereo, const float *samples, long frames, float limit, LimitedBlock *block) {
  const integer8 limits = (integer8)(float8)limit;
  const long channels = is_stereo ? 2 : 1, whole = frames & ~31L, end = frames & ~7L;
  MeasuredEights measured = {0, 0};
  long frame = 0;
  for (; frame < whole; frame += 32) {
    const float *eights = samples + channels * frame;
    measure_eight(is_stereo, eights, limits, &measured);
    measure_eight(is_stereo, eights + 8 * channels, limits, &measured);
    measure_eight(is_stereo, eights + 16 * channels, limits, &measured);
    measure_eight(is_stereo, eights + 24 * channels, limits, &measured);
  }
  for (; frame < end; frame += 8) measure_eight(is_stereo, samples + channels * frame, limits, &measured);
  const int32_t bits = __builtin_reduce_max(measured.highest);
  memcpy(&block->peak, &bits, sizeof bits);
  if (block->peak > limit) block->above = __builtin_reduce_add(measured.above);
  return frame;
}

// Adds what the frames of a block are that were not measured eight at a time. It is not inlined, so
// that a block without such frames does not save the registers that it needs.
__attribute__((noinline)) static LimitedBlock block_with_rest(
    LimitedBlock block, const float *samples, long channels, long frames, float limit) {
  const float peak = vectors_peak_or_nan(samples, channels * frames);
  if (!isnan(block.peak) && !(peak <= block.peak)) block.peak = peak;
  if (peak > limit) block.above += vectors_frames_above(samples, channels, frames, limit);
  return block;
}

// Returns the peak of frames, NaN if a sample is NaN, and the number of frames above `limit`.
BODY LimitedBlock levels_of_block(const float *samples, long channels, long frames, float limit) {
  LimitedBlock block = {0, 0};
  long frame = 0;
  if (channels == 1) frame = measure_eights(0, samples, frames, limit, &block);
  if (channels == 2) frame = measure_eights(1, samples, frames, limit, &block);
  if (frame == frames) return block;
  return block_with_rest(block, samples + channels * frame, channels, frames - frame, limit);
}

// The share of the limit below which the rounded product of a peak and a gain is safe; `brought_to`
// is lower.
static const float safe_share = 0.9999995f;

BODY LimitedBlock vectors_limit_block_body(LimiterGain *limiter, float *samples, long channels, long frames) {
  const LimitedBlock block = levels_of_block(samples, channels, frames, limiter->limit);
  if (!(block.peak < INFINITY)) return block;
  const float gain = limiter->gain, risen = gain + limiter->step * (float)frames;
  const float last = limiter->step <= 0 ? gain : risen < limiter->target ? risen : limiter->target;
  if (block.peak * last > limiter->limit * safe_share) {
    vectors_limit_frames(limiter, samples, channels, frames);
  } else if (last != gain) {
    vectors_ramp(samples, channels, frames, gain, (last - gain) / (float)frames);
    limiter->gain = last;
  } else if (gain != 1) {
    vectors_scale_body(samples, gain, channels * frames);
  }
  return block;
}
TWO_VERSIONS(
    LimitedBlock, vectors_limit_block, (LimiterGain *limiter, float *samples, long channels, long frames), limiter,
    samples, channels, frames)
