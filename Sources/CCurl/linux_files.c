#define _GNU_SOURCE
#include "linux_files.h"

#include <fcntl.h>
#include <unistd.h>

int linux_unnamed_file(const char *folder) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

bool linux_punch_hole(int descriptor, int64_t offset, int64_t count) {
  return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count) == 0;
}

bool linux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0; }
