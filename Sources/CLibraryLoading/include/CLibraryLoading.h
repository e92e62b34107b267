// Libraries that are loaded when they are needed, so that programs run without them.
#pragma once

#include <stdbool.h>

// A function of a library, and where its address is stored.
struct library_function {
  const char *name;
  // A pointer to a pointer to a function.
  void *target;
};

// Loads the first of the libraries `names` that is there and stores the addresses of its
// `functions`. Both lists end with NULL. Returns false if there is no library, or if it lacks a
// function.
bool library_load(const char *const *names, const struct library_function *functions);
