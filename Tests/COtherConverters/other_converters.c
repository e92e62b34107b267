#include "other_converters.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// Declared as in samplerate.h.
struct samplerate_data {
  const float *data_in;
  float *data_out;
  long input_frames, output_frames;
  long input_frames_used, output_frames_gen;
  int end_of_input;
  double src_ratio;
};

struct other_converter {
  void *library;
  void *state;
  int (*samplerate_process)(void *, struct samplerate_data *);
  int (*speex_process)(
      void *, const float *, uint32_t *, float *, uint32_t *);
  const char *(*soxr_process)(
      void *, const void *, size_t, size_t *, void *, size_t, size_t *);
  int (*swresample_convert)(void *, uint8_t **, int, const uint8_t **, int);
  void (*destroy)(void *);
  void (*destroy_at)(void **);
};

// Declared as in soxr.h.
struct soxr_quality {
  double precision, phase_response, passband_end, stopband_begin;
  void *reserved;
  unsigned long flags;
};

static other_converter *open_library(const char *name) {
  void *library = dlopen(name, RTLD_NOW);
  if (!library) return NULL;
  other_converter *converter = calloc(1, sizeof *converter);
  if (converter) converter->library = library;
  return converter;
}

other_converter *other_converter_samplerate(int kind, int channels) {
  other_converter *converter = open_library("libsamplerate.so.0");
  if (!converter) return NULL;
  void *(*new_state)(int, int, int *) = dlsym(converter->library, "src_new");
  converter->samplerate_process = dlsym(converter->library, "src_process");
  converter->destroy = dlsym(converter->library, "src_delete");
  int error = 0;
  if (new_state && converter->samplerate_process && converter->destroy)
    converter->state = new_state(kind, channels, &error);
  if (converter->state) return converter;
  other_converter_close(converter);
  return NULL;
}

other_converter *other_converter_speex(
    int quality, int channels, unsigned input_rate, unsigned output_rate) {
  other_converter *converter = open_library("libspeexdsp.so.1");
  if (!converter) return NULL;
  void *(*new_state)(uint32_t, uint32_t, uint32_t, int, int *) =
      dlsym(converter->library, "speex_resampler_init");
  converter->speex_process =
      dlsym(converter->library, "speex_resampler_process_interleaved_float");
  converter->destroy = dlsym(converter->library, "speex_resampler_destroy");
  if (new_state && converter->speex_process && converter->destroy)
    converter->state = new_state(channels, input_rate, output_rate, quality, NULL);
  if (converter->state) return converter;
  other_converter_close(converter);
  return NULL;
}

other_converter *other_converter_soxr(
    int recipe, int channels, unsigned input_rate, unsigned output_rate) {
  other_converter *converter = open_library("libsoxr.so.0");
  if (!converter) return NULL;
  void *(*new_state)(
      double, double, unsigned, const char **, const void *, const struct soxr_quality *,
      const void *) = dlsym(converter->library, "soxr_create");
  struct soxr_quality (*quality_of)(unsigned long, unsigned long) =
      dlsym(converter->library, "soxr_quality_spec");
  converter->soxr_process = dlsym(converter->library, "soxr_process");
  converter->destroy = dlsym(converter->library, "soxr_delete");
  if (new_state && quality_of && converter->soxr_process && converter->destroy) {
    struct soxr_quality quality = quality_of(recipe, 0);
    converter->state = new_state(input_rate, output_rate, channels, NULL, NULL, &quality, NULL);
  }
  if (converter->state) return converter;
  other_converter_close(converter);
  return NULL;
}

other_converter *other_converter_swresample(
    int channels, unsigned input_rate, unsigned output_rate) {
  other_converter *converter = open_library("libswresample.so.4");
  if (!converter) return NULL;
  void *(*new_state)(void *, int64_t, int, int, int64_t, int, int, int, void *) =
      dlsym(converter->library, "swr_alloc_set_opts");
  int (*start)(void *) = dlsym(converter->library, "swr_init");
  converter->swresample_convert = dlsym(converter->library, "swr_convert");
  converter->destroy_at = dlsym(converter->library, "swr_free");
  if (new_state && start && converter->swresample_convert && converter->destroy_at) {
    // The layout is AV_CH_LAYOUT_MONO or AV_CH_LAYOUT_STEREO, the sample format AV_SAMPLE_FMT_FLT.
    int64_t layout = channels == 1 ? 4 : 3;
    converter->state =
        new_state(NULL, layout, 3, output_rate, layout, 3, input_rate, 0, NULL);
    if (converter->state && start(converter->state) < 0)
      converter->destroy_at(&converter->state);
  }
  if (converter->state) return converter;
  other_converter_close(converter);
  return NULL;
}

void other_converter_close(other_converter *converter) {
  if (converter->state && converter->destroy) converter->destroy(converter->state);
  if (converter->state && converter->destroy_at) converter->destroy_at(&converter->state);
  dlclose(converter->library);
  free(converter);
}

long other_converter_convert(
    other_converter *converter, const float *input, long frames, long *used, float *output,
    long room, double output_per_input) {
  if (converter->speex_process) {
    uint32_t consumed = frames, produced = room;
    if (converter->speex_process(converter->state, input, &consumed, output, &produced)) return -1;
    *used = consumed;
    return produced;
  }
  if (converter->soxr_process) {
    size_t consumed = 0, produced = 0;
    if (converter->soxr_process(
            converter->state, input, frames, &consumed, output, room, &produced))
      return -1;
    *used = consumed;
    return produced;
  }
  if (converter->swresample_convert) {
    const uint8_t *sources[] = {(const uint8_t *)input};
    uint8_t *targets[] = {(uint8_t *)output};
    *used = frames;
    return converter->swresample_convert(converter->state, targets, room, sources, frames);
  }
  struct samplerate_data data = {input, output, frames, room, 0, 0, 0, output_per_input};
  if (converter->samplerate_process(converter->state, &data)) return -1;
  *used = data.input_frames_used;
  return data.output_frames_gen;
}
