// All code is in the headers; a target needs one file to compile.
#define _GNU_SOURCE
#include "CRealtime.h"
