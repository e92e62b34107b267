// A load that never sleeps and makes no system call.
//
// Its instructions are no-ops: the lab's clock counts each of them as any other instruction, but
// the emulator executes them quickly. An hour of this load takes only minutes.
#include "request.h"

int run_hog(const Request *request) {
  (void)request;
  while (!asked_to_end()) __asm__ volatile(".rept 4096\n\tnop\n\t.endr");
  return 0;
}
