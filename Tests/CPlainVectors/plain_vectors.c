// Compiles the same source with a processor check that always reports no AVX2.
#define __builtin_cpu_supports(feature) 0
#define vectors_peak plain_peak
#define vectors_peak_or_nan plain_peak_or_nan
#define vectors_scale plain_scale
#define vectors_add plain_add
#define vectors_encode16 plain_encode16
#define vectors_encode32 plain_encode32
#define vectors_decode16 plain_decode16
#define vectors_decode16_and_measure plain_decode16_and_measure
#define vectors_mix_weights plain_mix_weights
#define vectors_inner_product plain_inner_product
#define vectors_inner_products plain_inner_products
#define vectors_filter_bands plain_filter_bands
#define vectors_sum_every_other plain_sum_every_other
#define vectors_sum_and_measure plain_sum_and_measure
#define vectors_sum_alternately plain_sum_alternately
#define vectors_peaks_of_four plain_peaks_of_four
#define vectors_second_differences plain_second_differences
#define vectors_sum_up plain_sum_up
#define vectors_measure plain_measure
#define vectors_follow_bands plain_follow_bands
#define vectors_limit_block plain_limit_block
#define vectors_limit_frames plain_limit_frames
#define vectors_frames_above plain_frames_above
#define vectors_ramp plain_ramp
#define vectors_filtered_power plain_filtered_power
#define vectors_search_peaks plain_search_peaks
#define vectors_round_weights plain_round_weights
#define vectors_search_rough_peaks plain_search_rough_peaks

#include "../../Sources/CVectors/converters.c"
#include "../../Sources/CVectors/filters.c"
#include "../../Sources/CVectors/levels.c"
#include "../../Sources/CVectors/limiter.c"
#include "../../Sources/CVectors/peaks.c"
#include "../../Sources/CVectors/samples.c"
