// A load that never sleeps and makes no system call.
//
// Its instructions do nothing: the lab's clock counts each of them like any other, while the emulator has nearly
// nothing to do. An hour beside it passes in minutes.
#include "request.h"

int run_hog(const Request *request) {
  (void)request;
  while (!asked_to_end()) __asm__ volatile(".rept 4096\n\tnop\n\t.endr");
  return 0;
}
