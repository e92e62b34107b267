#include "other_converters.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// As in samplerate.h.
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
  void (*destroy)(void *);
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

void other_converter_close(other_converter *converter) {
  if (converter->state) converter->destroy(converter->state);
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
  struct samplerate_data data = {input, output, frames, room, 0, 0, 0, output_per_input};
  if (converter->samplerate_process(converter->state, &data)) return -1;
  *used = data.input_frames_used;
  return data.output_frames_gen;
}
