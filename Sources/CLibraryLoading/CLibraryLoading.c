#include "CLibraryLoading.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool library_load(const char *const *names, const struct library_function *functions) {
  void *library = NULL;
  for (; !library && *names; names++) library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  for (; functions->name; functions++) {
    void *address = dlsym(library, functions->name);
    if (!address) return false;
    // C has no conversion of a pointer to data into a pointer to a function.
    memcpy(functions->target, &address, sizeof address);
  }
  return true;
}
