// Compiles the headers, which contain all code for the audio thread.
#define _GNU_SOURCE
#include "CRealtime.h"
