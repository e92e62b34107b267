#define _GNU_SOURCE
#include "linux_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

int linux_unnamed_file(const char *folder, unsigned mode) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int linux_rename_to_free(const char *old_path, const char *new_path) {
  return renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, RENAME_NOREPLACE);
}

bool linux_punch_hole(int descriptor, int64_t offset, int64_t count) {
  return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count) == 0;
}

int64_t linux_maximum_file_size(int descriptor) {
  int64_t maximum = INT64_MAX;
  struct statfs status;
  // FAT stores a file's size in 32 bits. Other file systems do not tell their limits: most allow terabytes, but ext2
  // and ext3 with blocks of 1 KiB only 16 GiB, and FAT behind CIFS, NFS or FUSE 4 GiB.
  if (fstatfs(descriptor, &status) == 0 && status.f_type == MSDOS_SUPER_MAGIC) maximum = UINT32_MAX;
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)maximum) maximum = (int64_t)limit.rlim_cur;
  return maximum;
}

bool linux_pipe(int ends[2], bool waits) { return pipe2(ends, O_CLOEXEC | (waits ? 0 : O_NONBLOCK)) == 0; }

int linux_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

bool linux_redirect(int descriptor, int target) {
  while (dup3(target, descriptor, O_CLOEXEC) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}
