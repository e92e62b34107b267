// A test of the proof: RealtimeSanitizer must end this program when it allocates memory in a
// realtime section. The section is marked with the same header that duplex uses.
#include "CRealtime.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  if (!__rtsan_realtime_enter || !__rtsan_realtime_exit) {
    puts("RealtimeSanitizer is not linked");
    return 2;
  }
  realtime_enter();
  void *volatile block = malloc(100);
  realtime_leave();
  free(block);
  puts("not caught");
  return 0;
}
