// The loops of CVectors as they run on a processor without AVX2.
#pragma once

#include "CVectors.h"

#pragma clang assume_nonnull begin

float plain_peak(const float *samples, long count);
float plain_peak_or_nan(const float *samples, long count);
void plain_scale(float *samples, float gain, long count);
void plain_add(float *target, const float *added, long count);
long plain_encode16(int16_t *target, const float *source, long count);
long plain_encode32(int32_t *target, const float *source, long count);
void plain_decode16(float *target, const int16_t *source, long count);
float plain_decode16_and_measure(float *target, const int16_t *source, long count);
void plain_mix_weights(
    float *weights, const float *rows, long stride, long count, double first_factor, double second_factor,
    double third_factor, double fourth_factor);
float plain_inner_product(const float *weights, const float *samples, long count);
void plain_inner_products(
    const float *weights, const float *first, const float *second, long count, float *first_sum, float *second_sum);
void plain_filter_bands(
    const BandFilterWeights *weights, BandPair *state, float4 *energy, const float *samples, long count);
void plain_sum_every_other(float *sums, const float *samples, long channels, long count);
float plain_sum_and_measure(float *sums, const float *samples, long channels, long count);
void plain_sum_alternately(float *sums, float *between, const float *samples, long channels, long count);
void plain_follow_bands(
    const BandFilterWeights *weights, BandPair *state, BandPair *between, BandSums *sums, const float *samples,
    const float *samples_between, long count);
LimitedBlock plain_limit_block(LimiterGain *limiter, float *samples, long channels, long frames);
long plain_frames_above(const float *samples, long channels, long frames, float limit);
void plain_ramp(float *samples, long channels, long frames, float gain, float step);
float4 plain_peaks_of_four(const float *samples, long count);
float4 plain_second_differences(const float *samples, long stride, long count);
float plain_measure(float *levels, const float *samples, long channels, long count);
void plain_sum_up(ChannelSums *sums, const float *samples, long frames, long channels);
void plain_filtered_power(
    const SectionWeights *weights, SectionPair *early, SectionPair *late, double2 *sums, const float *left,
    const float *right, long stride, long count);
float4 plain_search_peaks(const PeakSearch *search, float4 known, const float *windows, long stride, long end);
float4 plain_search_rough_peaks(
    const RoughPeakSearch *search, float4 known, float4 bounds, const float *windows, long stride, long end);

#pragma clang assume_nonnull end
