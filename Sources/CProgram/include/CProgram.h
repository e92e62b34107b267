// How the program begins, stands in its terminal and ends, as far as the system has to do with it.
#pragma once

// The words of the command line, the program's name first; they live as long as the program.
int cprogram_argument_count(void);
const char *cprogram_argument(int index);

// From now on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end the program at once with
// `status`. Before, `sentence` goes to standard error and `event` to standard output, where they are not
// empty. Both are copied, up to 1,000 bytes.
void cprogram_end_on_signals(int status, const char *sentence, const char *event);

// Tells whether a panel is drawn on the terminal behind standard error, from the cursor on. Before Ctrl-Z stops the
// program the panel is erased, because the shell prints its prompt at the cursor. The first call installs the handler of
// SIGTSTP, unless the program was started with SIGTSTP ignored.
void cprogram_erase_at_stop(_Bool is_drawn);

// Columns that a terminal gives to a character of Unicode: two to an ideograph, none to an accent or to what it does not
// show. From any thread.
int cprogram_columns(unsigned int scalar);
