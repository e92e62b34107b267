#pragma once
#include <speex/speex_resampler.h>

// The calls allowed on the audio thread, redeclared so that the compiler lets them into functions
// marked @_noLocks, and no others. Read in speexdsp 1.2.1 (resample.c): they move within memory
// that init allocated; only set_rate, set_rate_frac, set_quality and init allocate.
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks")))

REALTIME_SAFE int speex_resampler_process_interleaved_float(SpeexResamplerState *st, const float *in,
                                                      spx_uint32_t *in_len, float *out,
                                                      spx_uint32_t *out_len);
REALTIME_SAFE int speex_resampler_skip_zeros(SpeexResamplerState *st);
REALTIME_SAFE int speex_resampler_reset_mem(SpeexResamplerState *st);
