#include "CSoxr.h"

#include <CLibraryLoading.h>
#include <stddef.h>

// As in libsoxr.so.0 (soxr 0.1); declared here, so that the build does not need its header.
struct quality_spec {
  double precision, phase_response, passband_end, stopband_begin;
  void *reserved;
  unsigned long flags;
};

enum {
  recipe_steep_filter = 0x40,
  // Computes positions with 96 bits, for ratios with large terms.
  flag_high_precision_clock = 8,
};

static struct {
  // The specifications of samples and of resources are NULL, for the defaults: interleaved 32-bit
  // floating point, one thread.
  csoxr_converter *(*create)(
    double, double, unsigned, const char **, const void *, const struct quality_spec *,
    const void *);
  const char *(*process)(
    csoxr_converter *, const void *, size_t, size_t *, void *, size_t, size_t *);
  void (*destroy)(csoxr_converter *);
  struct quality_spec (*quality_spec)(unsigned long, unsigned long);
} lib;

bool csoxr_load(void) {
  const char *const names[] = {"libsoxr.so.0", NULL};
  const struct library_function functions[] = {
    {"soxr_create", &lib.create},
    {"soxr_process", &lib.process},
    {"soxr_delete", &lib.destroy},
    {"soxr_quality_spec", &lib.quality_spec},
    {NULL, NULL},
  };
  return library_load(names, functions);
}

csoxr_converter *csoxr_create(
  double input_rate, double output_rate, unsigned channel_count, csoxr_filter filter) {
  // The recipes for 20, 24, 28 and 32 bits have the numbers 4 to 7.
  unsigned long recipe = filter.bits / 4 - 1;
  if (filter.is_steep) recipe |= recipe_steep_filter;
  const struct quality_spec quality = lib.quality_spec(recipe, flag_high_precision_clock);
  const char *error = NULL;
  csoxr_converter *converter =
    lib.create(input_rate, output_rate, channel_count, &error, NULL, &quality, NULL);
  if (!error) return converter;
  if (converter) lib.destroy(converter);
  return NULL;
}

void csoxr_destroy(csoxr_converter *converter) { lib.destroy(converter); }

size_t csoxr_convert(
  csoxr_converter *converter, const float *input, size_t frames, float *output, size_t room) {
  size_t produced = 0;
  // With a pointer for the number of frames consumed, the function would consume no more than
  // `room` needs. It reports no errors after creation.
  lib.process(converter, input, frames, NULL, output, room, &produced);
  return produced;
}
