// File functions of Linux that Swift's Glibc does not define.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Creates a file in `folder` that has no name and the permissions `mode`, and is deleted when it
/// is closed. Returns its descriptor, or -1 on failure.
int linux_unnamed_file(const char *folder, unsigned mode);

/// Renames a file unless the new name exists. Returns -1 on failure.
int linux_rename_to_free(const char *old_path, const char *new_path);

/// Releases the disk blocks between `offset` and `offset + count` without changing the file's
/// length. Returns false on failure.
bool linux_punch_hole(int descriptor, int64_t offset, int64_t count);

/// Returns the largest size in bytes that FAT and the present limit of the process (`ulimit -f`)
/// allow for an open file; INT64_MAX if neither limits it.
int64_t linux_maximum_file_size(int descriptor);

/// Creates a pipe whose ends are not inherited by programs that are started. Reads and writes block
/// if `waits`. Returns false on failure.
bool linux_pipe(int ends[2], bool waits);

/// Creates a file in memory, described by `name`. Returns its descriptor, or -1 on failure.
int linux_memory_file(const char *name);

/// Makes `descriptor`, which programs that are started do not inherit, refer to the open file `target` in place of its
/// own. Returns false on failure, without any change.
bool linux_redirect(int descriptor, int target);
