// The code of the program and its libraries in memory.
#define _GNU_SOURCE
#include "linux_calls.h"

#include <link.h>

// Returns whether the loader wrote addresses into the code of an object, which would be lost.
static bool has_changed_code(const struct dl_phdr_info *object) {
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = object->dlpi_phdr + index;
    if (part->p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + part->p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return true;
    }
  }
  return false;
}

// Releases the parts of an object that are never written: they are equal to the file.
static int release_object(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  if (has_changed_code(object)) return 0;
  const unsigned long page = *(const unsigned long *)context;
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = object->dlpi_phdr + index;
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    const unsigned long start = object->dlpi_addr + part->p_vaddr;
    const unsigned long first = (start + page - 1) & ~(page - 1), last = (start + part->p_memsz) & ~(page - 1);
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
  }
  return 0;
}

void linux_release_code(void) {
  unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
  dl_iterate_phdr(release_object, &page);
}
