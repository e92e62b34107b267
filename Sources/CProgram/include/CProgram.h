// How the program begins and ends, as far as the system has to do with it.
#pragma once

// The words of the command line, the program's name first; they live as long as the program.
int cprogram_argument_count(void);
const char *cprogram_argument(int index);

// From now on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end the program at once with
// `status`. Before, `sentence` goes to standard error and `event` to standard output, where they are not
// empty. Both are copied, up to 1,000 bytes.
void cprogram_end_on_signals(int status, const char *sentence, const char *event);

// Whether something is drawn on the terminal behind standard error, from the cursor on: where Ctrl-Z stops the program
// it is erased before, as the shell writes there. Called the first time, it begins to hear SIGTSTP, unless that is
// ignored.
void cprogram_erase_at_stop(_Bool is_drawn);
