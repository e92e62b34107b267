// What a cache needs of Linux that Swift's Glibc does not know.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// A file in `folder` that has no name and goes when it is closed; -1 where that is not possible.
int linux_unnamed_file(const char *folder);

/// Gives the disk's blocks between `offset` and `offset + count` back; the file's length stays.
bool linux_punch_hole(int descriptor, int64_t offset, int64_t count);

/// Both ends of a pipe that does not block.
bool linux_pipe(int ends[2]);
