// What the C library's allocator tells of itself; Swift's own module of the C library leaves it out.
#include <malloc.h>
