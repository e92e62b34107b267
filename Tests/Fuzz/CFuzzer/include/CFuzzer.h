#include <stddef.h>
#include <stdint.h>

// libFuzzer, which comes with the compiler, as a function that calls `try_input` for each input.
// (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library)
int LLVMFuzzerRunDriver(int *count, char ***words, int (*try_input)(const uint8_t *, size_t));
