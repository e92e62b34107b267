// glibc passes the arguments of main to every function in .init_array. Swift's CommandLine reads
// /proc/self/cmdline instead, and treats a failure to read it as an empty command line.
#include "CProgram.h"

static int argument_count;
static char **arguments;

static void keep_arguments(int count, char **words, char **environment) {
  (void)environment;
  argument_count = count;
  arguments = words;
}

__attribute__((section(".init_array"), used)) static void (*const keeper)(int, char **, char **) =
    keep_arguments;

int cprogram_argument_count(void) { return argument_count; }

const char *cprogram_argument(int index) { return arguments[index]; }
