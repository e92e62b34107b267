// What the system told the program at its start.
#pragma once

// The words of the command line, the program's name first; they live as long as the program.
int cprogram_argument_count(void);
const char *cprogram_argument(int index);
