// The parameters that a fake PCM grants, and its properties other than its position.
#define _GNU_SOURCE
#include <errno.h>

#include "PassingOn.h"

// The fake's data in the memory of alsa-lib's parameter blocks, after a mark that no real block
// has.
static const uint64_t mark = 0xfa4efa4efa4efa4eULL;
struct block {
  uint64_t mark;
  struct fake_pcm *pcm;
  long rate, channels, least_channels, period, buffer;
  long unread, stamp;
};
#define BLOCK(pointer) ((struct block *)(void *)(pointer))
#define PASS_ON_BLOCK(pointer, name, ...) \
  if (BLOCK(pointer)->mark != mark) return ALSAS(name)(__VA_ARGS__)

static int begin_block(void *memory, snd_pcm_t *pcm) {
  struct fake_pcm *of = fake(pcm);
  *BLOCK(memory) = (struct block){.mark = mark, .pcm = of, .rate = 48000, .channels = 1};
  return 0;
}

int snd_pcm_info(snd_pcm_t *pcm, snd_pcm_info_t *info) {
  PASS_ON(pcm, snd_pcm_info, pcm, info);
  return begin_block(info, pcm);
}

int snd_pcm_info_get_card(const snd_pcm_info_t *info) {
  PASS_ON_BLOCK(info, snd_pcm_info_get_card, info);
  return BLOCK(info)->pcm->is_server ? -1 : BLOCK(info)->pcm->card;
}

// Writes nothing: an empty description contains no part without a clock.
int snd_pcm_dump(snd_pcm_t *pcm, snd_output_t *output) {
  PASS_ON(pcm, snd_pcm_dump, pcm, output);
  return 0;
}

int snd_pcm_status(snd_pcm_t *pcm, snd_pcm_status_t *status) {
  PASS_ON(pcm, snd_pcm_status, pcm, status);
  struct fake_pcm *of = fake(pcm);
  if (of->stop_stamp < 0) return -ENODEV;
  begin_block(status, pcm);
  BLOCK(status)->stamp = of->stop_stamp;
  BLOCK(status)->unread = of->stop_unread;
  return 0;
}

snd_pcm_uframes_t snd_pcm_status_get_avail(const snd_pcm_status_t *status) {
  PASS_ON_BLOCK(status, snd_pcm_status_get_avail, status);
  return (snd_pcm_uframes_t)BLOCK(status)->unread;
}

void snd_pcm_status_get_trigger_htstamp(const snd_pcm_status_t *status, snd_htimestamp_t *time) {
  PASS_ON_BLOCK(status, snd_pcm_status_get_trigger_htstamp, status, time);
  *time = (snd_htimestamp_t){.tv_sec = BLOCK(status)->stamp / 1000000000,
                             .tv_nsec = BLOCK(status)->stamp % 1000000000};
}

int snd_pcm_hw_params_any(snd_pcm_t *pcm, snd_pcm_hw_params_t *space) {
  PASS_ON(pcm, snd_pcm_hw_params_any, pcm, space);
  return begin_block(space, pcm);
}

int snd_pcm_hw_params_set_rate_resample(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                        unsigned int value) {
  PASS_ON(pcm, snd_pcm_hw_params_set_rate_resample, pcm, space, value);
  return 0;
}

int snd_pcm_hw_params_set_access(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                 snd_pcm_access_t access) {
  PASS_ON(pcm, snd_pcm_hw_params_set_access, pcm, space, access);
  struct fake_pcm *of = fake(pcm);
  snd_pcm_access_t copied = of->is_planar ? SND_PCM_ACCESS_RW_NONINTERLEAVED : SND_PCM_ACCESS_RW_INTERLEAVED;
  snd_pcm_access_t mapped = of->is_planar ? SND_PCM_ACCESS_MMAP_NONINTERLEAVED : SND_PCM_ACCESS_MMAP_INTERLEAVED;
  bool is_known = (access == mapped && !of->is_copied) ||
                  (access == copied && (of->is_copied || of->is_uneven || of->has_uneven_steps));
  return is_known ? 0 : -EINVAL;
}

int snd_pcm_hw_params_set_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                 snd_pcm_format_t format) {
  PASS_ON(pcm, snd_pcm_hw_params_set_format, pcm, space, format);
  return format == SND_PCM_FORMAT_S16_LE ? 0 : -EINVAL;
}

int snd_pcm_hw_params_test_format(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                  snd_pcm_format_t format) {
  PASS_ON(pcm, snd_pcm_hw_params_test_format, pcm, space, format);
  return format == SND_PCM_FORMAT_S16_LE ? 0 : -EINVAL;
}

// Sets the value that the fake grants, or exactly the requested value if the fake does not fix one.
#define NEAR(field, asked) \
  if (fake(pcm)->field) *(asked) = (__typeof__(*(asked)))fake(pcm)->field; \
  BLOCK(space)->field = (long)*(asked); \
  return 0

int snd_pcm_hw_params_set_channels_min(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                       unsigned int *minimum) {
  PASS_ON(pcm, snd_pcm_hw_params_set_channels_min, pcm, space, minimum);
  if (fake(pcm)->channels && fake(pcm)->channels < (long)*minimum) return -EINVAL;
  BLOCK(space)->least_channels = (long)*minimum;
  return 0;
}

int snd_pcm_hw_params_set_channels_first(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                         unsigned int *count) {
  PASS_ON(pcm, snd_pcm_hw_params_set_channels_first, pcm, space, count);
  *count = (unsigned)(fake(pcm)->channels ? fake(pcm)->channels : BLOCK(space)->least_channels);
  BLOCK(space)->channels = (long)*count;
  return 0;
}

#define CHANNEL_LIMIT(name)                                                            \
  int name(const snd_pcm_hw_params_t *space, unsigned int *count) {                    \
    PASS_ON_BLOCK(space, name, space, count);                                          \
    *count = (unsigned)BLOCK(space)->pcm->channels;                                    \
    return 0;                                                                          \
  }
CHANNEL_LIMIT(snd_pcm_hw_params_get_channels_min)
CHANNEL_LIMIT(snd_pcm_hw_params_get_channels_max)

int snd_pcm_hw_params_set_rate_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *space, unsigned int *rate,
                                    int *rounding) {
  PASS_ON(pcm, snd_pcm_hw_params_set_rate_near, pcm, space, rate, rounding);
  NEAR(rate, rate);
}

int snd_pcm_hw_params_set_period_size_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                           snd_pcm_uframes_t *frames, int *rounding) {
  PASS_ON(pcm, snd_pcm_hw_params_set_period_size_near, pcm, space, frames, rounding);
  NEAR(period, frames);
}

int snd_pcm_hw_params_set_buffer_size_near(snd_pcm_t *pcm, snd_pcm_hw_params_t *space,
                                           snd_pcm_uframes_t *frames) {
  PASS_ON(pcm, snd_pcm_hw_params_set_buffer_size_near, pcm, space, frames);
  NEAR(buffer, frames);
}

int snd_pcm_hw_params(snd_pcm_t *pcm, snd_pcm_hw_params_t *space) {
  PASS_ON(pcm, snd_pcm_hw_params, pcm, space);
  struct fake_pcm *of = fake(pcm);
  struct block *asked = BLOCK(space);
  of->rate = asked->rate;
  of->channels = asked->channels;
  of->period = asked->period;
  of->buffer = asked->buffer;
  return of->buffer * of->channels < most_samples ? 0 : -ENOMEM;
}

int snd_pcm_hw_params_get_period_size(const snd_pcm_hw_params_t *space, snd_pcm_uframes_t *frames,
                                      int *rounding) {
  PASS_ON_BLOCK(space, snd_pcm_hw_params_get_period_size, space, frames, rounding);
  *frames = (snd_pcm_uframes_t)BLOCK(space)->period;
  return 0;
}

int snd_pcm_hw_params_get_buffer_size(const snd_pcm_hw_params_t *space, snd_pcm_uframes_t *frames) {
  PASS_ON_BLOCK(space, snd_pcm_hw_params_get_buffer_size, space, frames);
  *frames = (snd_pcm_uframes_t)BLOCK(space)->buffer;
  return 0;
}

int snd_pcm_hw_params_get_period_size_min(const snd_pcm_hw_params_t *space,
                                          snd_pcm_uframes_t *frames, int *rounding) {
  PASS_ON_BLOCK(space, snd_pcm_hw_params_get_period_size_min, space, frames, rounding);
  *frames = 1;
  return 0;
}

int snd_pcm_hw_params_get_period_size_max(const snd_pcm_hw_params_t *space,
                                          snd_pcm_uframes_t *frames, int *rounding) {
  PASS_ON_BLOCK(space, snd_pcm_hw_params_get_period_size_max, space, frames, rounding);
  *frames = 4096;
  return 0;
}

int snd_pcm_sw_params_current(snd_pcm_t *pcm, snd_pcm_sw_params_t *parameters) {
  PASS_ON(pcm, snd_pcm_sw_params_current, pcm, parameters);
  return begin_block(parameters, pcm);
}

int snd_pcm_sw_params_get_boundary(const snd_pcm_sw_params_t *parameters,
                                   snd_pcm_uframes_t *boundary) {
  PASS_ON_BLOCK(parameters, snd_pcm_sw_params_get_boundary, parameters, boundary);
  *boundary = 1UL << 62;
  return 0;
}

#define SOFTWARE_PARAMETER(name, type) \
  int name(snd_pcm_t *pcm, snd_pcm_sw_params_t *parameters, type value) { \
    PASS_ON(pcm, name, pcm, parameters, value); \
    return 0; \
  }
SOFTWARE_PARAMETER(snd_pcm_sw_params_set_start_threshold, snd_pcm_uframes_t)
SOFTWARE_PARAMETER(snd_pcm_sw_params_set_stop_threshold, snd_pcm_uframes_t)
SOFTWARE_PARAMETER(snd_pcm_sw_params_set_avail_min, snd_pcm_uframes_t)
SOFTWARE_PARAMETER(snd_pcm_sw_params_set_tstamp_mode, snd_pcm_tstamp_t)
SOFTWARE_PARAMETER(snd_pcm_sw_params_set_tstamp_type, snd_pcm_tstamp_type_t)

int snd_pcm_sw_params(snd_pcm_t *pcm, snd_pcm_sw_params_t *parameters) {
  PASS_ON(pcm, snd_pcm_sw_params, pcm, parameters);
  return 0;
}
