// What files need of Linux that Swift's Glibc does not know.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// A file in `folder` that has no name, with the permissions `mode`, and goes when it is closed; -1 where that is not possible.
int linux_unnamed_file(const char *folder, unsigned mode);

/// Renames unless there is something of the new name; -1 where that is not possible.
int linux_rename_to_free(const char *old_path, const char *new_path);

/// Gives the disk's blocks between `offset` and `offset + count` back; the file's length stays.
bool linux_punch_hole(int descriptor, int64_t offset, int64_t count);

/// Both ends of a pipe, which no program that is started gets. Reads and writes wait where it `waits`.
bool linux_pipe(int ends[2], bool waits);

/// A file in memory, which `name` only describes; -1 where that is not possible.
int linux_memory_file(const char *name);
