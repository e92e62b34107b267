// A clock that a test advances, instead of a wait.
#pragma once

/// Advances the monotonic clock of the calling thread; a negative number sets it back.
void fake_clock_advance(long nanoseconds);
