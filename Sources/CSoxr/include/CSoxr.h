// libsoxr, loaded when the first rate is converted: linking it, and the OpenMP library it brings along,
// would cost every command. What is used of its interface is declared in CSoxr.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// A converter for interleaved frames at one ratio.
typedef struct csoxr_converter csoxr_converter;

/// Which filter, by soxr's recipes: `bits` of precision, 20, 24, 28 or 32; one that `is_steep` passes more of the
/// band.
typedef struct csoxr_filter {
  int bits;
  bool is_steep;
} csoxr_filter;

/// Loads the library; false where there is none. Once, before all else.
bool csoxr_load(void);

/// NULL where the rates cannot be converted, or without memory.
csoxr_converter *csoxr_create(
  double input_rate, double output_rate, unsigned channel_count, csoxr_filter filter);
void csoxr_destroy(csoxr_converter *converter);

/// Takes all `frames` frames of `input`, and gives at most `room` frames of what is ready; returns
/// how many.
size_t csoxr_convert(
  csoxr_converter *converter, const float *input, size_t frames, float *output, size_t room);
