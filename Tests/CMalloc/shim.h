// The C library's allocator statistics, which Swift's own module of the C library omits.
#include <malloc.h>
