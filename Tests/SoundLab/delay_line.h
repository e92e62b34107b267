// Delays frames by an exact time, which need not be a whole number of frames.
#pragma once
#include <stddef.h>

#include "numbered_frames.h"

typedef struct DelayLine DelayLine;

/// Returns the reason why frames of this layout cannot be delayed by `delay` frames, as a sentence,
/// or NULL.
const char *delay_objection(const FrameLayout *frames, double delay);

/// Returns a delay line filled with silence, or NULL if memory is insufficient. `delay_objection`
/// must have returned NULL for `delay`.
DelayLine *new_delay_line(const FrameLayout *frames, double delay);

/// Reads `count` frames from `from` and writes the same number of delayed frames to `to`.
void hold_back(DelayLine *line, const unsigned char *from, unsigned char *to, size_t count);
