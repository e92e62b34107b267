// Holds frames back by an exact time, which need not be a whole number of frames.
#pragma once
#include <stddef.h>

#include "numbered_frames.h"

typedef struct DelayLine DelayLine;

/// Why frames of this layout cannot be held back by `delay` frames, as a sentence, or NULL.
const char *delay_objection(const FrameLayout *frames, double delay);

/// A line full of silence, or NULL without memory for it. There must be no objection to `delay`.
DelayLine *new_delay_line(const FrameLayout *frames, double delay);

/// Takes `count` frames in at `from`, and puts those whose time has come at `to`.
void hold_back(DelayLine *line, const unsigned char *from, unsigned char *to, size_t count);
