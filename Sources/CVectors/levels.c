// Level measurement: peaks, sums and K-weighted power.
#include "vectors.h"

// Updates the peaks of the lanes with fewer than eight remaining magnitudes.
BODY float4 with_rest(float4 peaks, const float *magnitude, long count) {
  for (long index = 0; index < count; index++) {
    const float other = magnitude[index];
    if (other > peaks[index & 3]) peaks[index & 3] = other;
  }
  return peaks;
}

BODY float4 vectors_peaks_of_four_body(const float *samples, long count) {
  long index = 0;
  const float8 peaks = peaks_of_eights(samples, count, &index);
  float rest[7];
  for (long left = 0; index + left < count; left++) rest[left] = fabsf(samples[index + left]);
  return with_rest(higher4(peaks), rest, count - index);
}
TWO_VERSIONS(float4, vectors_peaks_of_four, (const float *samples, long count), samples, count)

BODY float8 second_differences(const float *samples, long stride) {
  const float8 middle = load8(samples);
  return magnitudes((load8(samples - stride) + load8(samples + stride)) - (middle + middle));
}

BODY float4 vectors_second_differences_body(const float *samples, long stride, long count) {
  float8 first = 0, second = 0;
  long index = 0;
  for (; index + 16 <= count; index += 16) {
    first = higher(second_differences(samples + index, stride), first);
    second = higher(second_differences(samples + index + 8, stride), second);
  }
  for (; index + 8 <= count; index += 8) first = higher(second_differences(samples + index, stride), first);
  float rest[7];
  for (long left = 0; index + left < count; left++) {
    const float *middle = samples + index + left;
    rest[left] = fabsf((middle[-stride] + middle[stride]) - (*middle + *middle));
  }
  return with_rest(higher4(higher(first, second)), rest, count - index);
}
TWO_VERSIONS(
    float4, vectors_second_differences, (const float *samples, long stride, long count), samples, stride, count)

// Each lane of a vector of eight always belongs to the same channel if the number of channels divides
// eight.
BODY float vectors_measure_body(float *levels, const float *samples, long channels, long count) {
  float *sums = levels + channels;
  float highest = 0;
  long index = 0;
  if (channels > 0 && (channels & (channels - 1)) == 0 && channels <= 8) {
    float8 peak = 0, sum = 0;
#pragma clang loop unroll_count(4)
    for (; index + 8 <= count; index += 8) {
      const float8 eight = load8(samples + index);
      peak = higher(magnitudes(eight), peak);
      sum += eight * eight;
    }
    if (channels == 2) {
      // The halves are folded until two lanes remain: left and right.
      const float4 half_peak = higher4(peak), half_sum = sum.lo + sum.hi;
      const float4 pair_sum = half_sum + half_sum.zwzw;
      const float left = half_peak.x > half_peak.z ? half_peak.x : half_peak.z;
      const float right = half_peak.y > half_peak.w ? half_peak.y : half_peak.w;
      levels[0] = left > levels[0] ? left : levels[0];
      levels[1] = right > levels[1] ? right : levels[1];
      levels[2] += pair_sum.x;
      levels[3] += pair_sum.y;
      highest = left > right ? left : right;
    } else {
      for (long lane = 0; lane < 8; lane++) {
        const long channel = lane & (channels - 1);
        if (peak[lane] > levels[channel]) levels[channel] = peak[lane];
        if (peak[lane] > highest) highest = peak[lane];
        sums[channel] += sum[lane];
      }
    }
  }
  for (long channel = index % channels; index < count; index++) {
    const float sample = samples[index], magnitude = fabsf(sample);
    if (magnitude > highest) highest = magnitude;
    if (magnitude > levels[channel]) levels[channel] = magnitude;
    sums[channel] += sample * sample;
    channel = channel + 1 == channels ? 0 : channel + 1;
  }
  return highest;
}
TWO_VERSIONS(
    float, vectors_measure, (float *levels, const float *samples, long channels, long count), levels, samples,
    channels, count)

BODY void vectors_sum_up_body(ChannelSums *sums, const float *samples, long frames, long channels) {
  for (long channel = 0; channel < channels; channel++) sums[channel] = (ChannelSums){0, 0, 0};
  long index = 0;
  const long count = frames * channels;
  if (channels > 0 && 8 % channels == 0) {
    // Each lane always belongs to the same channel.
    float8 peaks = 0;
    double8 sum = 0, squares = 0;
#pragma clang loop unroll_count(4)
    for (; index + 8 <= count; index += 8) {
      const double8 exact = exact8(samples + index);
      peaks = higher(magnitudes(load8(samples + index)), peaks);
      sum += exact;
      squares += exact * exact;
    }
    for (long lane = 0; lane < 8; lane++) {
      ChannelSums *channel = sums + lane % channels;
      channel->sum += sum[lane];
      channel->squares += squares[lane];
      if (peaks[lane] > channel->peak) channel->peak = peaks[lane];
    }
  }
  for (long channel = 0; index < count; index++) {
    const double exact = samples[index];
    const float magnitude = fabsf(samples[index]);
    sums[channel].sum += exact;
    sums[channel].squares += exact * exact;
    if (magnitude > sums[channel].peak) sums[channel].peak = magnitude;
    channel = channel + 1 == channels ? 0 : channel + 1;
  }
}
TWO_VERSIONS(
    void, vectors_sum_up, (ChannelSums *sums, const float *samples, long frames, long channels), sums, samples, frames,
    channels)

BODY double4 of_sections(const SectionPair *pair) {
  return __builtin_shufflevector(pair->first, pair->second, 0, 1, 2, 3);
}

BODY double2 two_samples(int is_adjacent, const float *left, const float *right) {
  typedef float float2 __attribute__((ext_vector_type(2)));
  typedef float2 unaligned2 __attribute__((aligned(4)));
  if (is_adjacent) return __builtin_convertvector(*(const unaligned2 *)left, double2);
  return (double2){*left, *right};
}

// The first section filters a frame while the second one filters the output of the first section
// for the previous frame.
BODY void filtered_power(
    int is_adjacent, const SectionWeights *weights, SectionPair *early, SectionPair *late, double2 *sums,
    const float *left, const float *right, long stride, long count) {
  const double4 b1 = of_sections(&weights->b1), b2 = of_sections(&weights->b2);
  const double4 a1 = of_sections(&weights->a1), a2 = of_sections(&weights->a2);
  const double2 sample = two_samples(is_adjacent, left, right);
  double2 passed = sample + early->first;
  double2 first1 = b1.lo * sample + late->first - a1.lo * passed, first2 = b2.lo * sample - a2.lo * passed;
  double4 state1 = __builtin_shufflevector(first1, early->second, 0, 1, 2, 3);
  double4 state2 = __builtin_shufflevector(first2, late->second, 0, 1, 2, 3);
  double4 power = __builtin_shufflevector((double2)0, *sums, 0, 1, 2, 3);
#pragma clang loop unroll_count(4)
  for (; count > 1; count--) {
    left += stride;
    right += stride;
    const double4 input =
        __builtin_shufflevector(two_samples(is_adjacent, left, right), passed, 0, 1, 2, 3);
    const double4 output = input + state1;
    state1 = b1 * input + state2 - a1 * output;
    state2 = b2 * input - a2 * output;
    power += output * output;
    passed = output.lo;
  }
  const double2 last = passed + state1.hi;
  early->first = state1.lo;
  early->second = b1.hi * passed + state2.hi - a1.hi * last;
  late->first = state2.lo;
  late->second = b2.hi * passed - a2.hi * last;
  *sums = power.hi + last * last;
}

BODY void vectors_filtered_power_body(
    const SectionWeights *weights, SectionPair *early, SectionPair *late, double2 *sums, const float *left,
    const float *right, long stride, long count) {
  if (count < 1) return;
  if (right == left + 1) {
    filtered_power(1, weights, early, late, sums, left, right, stride, count);
  } else {
    filtered_power(0, weights, early, late, sums, left, right, stride, count);
  }
}
TWO_VERSIONS(
    void, vectors_filtered_power,
    (const SectionWeights *weights, SectionPair *early, SectionPair *late, double2 *sums, const float *left,
     const float *right, long stride, long count),
    weights, early, late, sums, left, right, stride, count)
