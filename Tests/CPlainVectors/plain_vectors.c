// The same source, asked whether the processor has AVX2, is told that it has not.
#define __builtin_cpu_supports(feature) 0
#define vectors_peak plain_peak
#define vectors_scale plain_scale
#define vectors_add plain_add
#define vectors_encode16 plain_encode16
#define vectors_encode32 plain_encode32
#define vectors_decode16 plain_decode16
#define vectors_mix_weights plain_mix_weights
#define vectors_inner_product plain_inner_product
#define vectors_inner_products plain_inner_products
#define vectors_filter_bands plain_filter_bands
#define vectors_sum_channels plain_sum_channels

#include "../../Sources/CVectors/CVectors.c"
