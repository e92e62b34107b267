// libsoxr, loaded when the first rate conversion starts. Linking it, and the OpenMP library that it
// depends on, would slow down every command. The functions used are declared in CSoxr.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// A converter for interleaved frames at one ratio.
typedef struct csoxr_converter csoxr_converter;

/// A filter of soxr's recipes: `bits` of precision, 20, 24, 28 or 32. A filter that `is_steep`
/// passes more of the band.
typedef struct csoxr_filter {
  int bits;
  bool is_steep;
} csoxr_filter;

/// Loads the library; returns false if it is missing. Call it once, before all other functions.
bool csoxr_load(void);

/// Creates a converter. Returns NULL if the rates cannot be converted, or if memory is short.
csoxr_converter *csoxr_create(
  double input_rate, double output_rate, unsigned channel_count, csoxr_filter filter);
void csoxr_destroy(csoxr_converter *converter);

/// Accepts all `frames` frames of `input`, and writes at most `room` frames of the available
/// output. Returns the number of frames written.
size_t csoxr_convert(
  csoxr_converter *converter, const float *input, size_t frames, float *output, size_t room);
