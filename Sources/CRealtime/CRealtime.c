// The headers are all there is; a target needs one file to compile.
#define _GNU_SOURCE
#include "CRealtime.h"
