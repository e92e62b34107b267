// Preloaded: ends a program with a message if it closes a descriptor that is not open. The
// descriptor of a second close may already belong to another thread.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int close(int descriptor) {
  static int (*original)(int);
  if (!original) original = (int (*)(int))dlsym(RTLD_NEXT, "close");
  int answer = original(descriptor);
  if (answer == 0 || errno != EBADF) return answer;
  char words[80];
  int count = snprintf(words, sizeof words, "descriptor %d is closed, but not open\n", descriptor);
  if (write(STDERR_FILENO, words, count) != count) _exit(1);
  abort();
}
