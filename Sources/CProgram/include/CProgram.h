// The start of the program, its signals, its terminal and its end, as far as they need the operating
// system.
#pragma once

#include <signal.h>

// The number of words of the command line and the word at an index. The name of the program is the
// first one. The words remain valid until the program ends.
int cprogram_argument_count(void);
const char *cprogram_argument(int index);

// From this call on, SIGINT, SIGTERM and SIGHUP, unless they are ignored or handled, end the
// program at once with `status`. Before that, `sentence` is written to standard error and `events`
// to standard output. Both are copied, of the sentence up to 1,000 bytes. The calls come from one
// thread.
void cprogram_end_on_signals(int status, const char *sentence, const char *events);

// Returns whether the signal is ignored.
_Bool cprogram_is_ignored(int number);

// Returns a descriptor that becomes readable when one of the signals in `set` arrives, or -1.
int cprogram_open_signals(const sigset_t *set);

// Sets whether a panel is drawn from the cursor on, on the terminal of standard error. The panel is
// erased before Ctrl-Z stops the program, because the shell prints its prompt at the cursor. The
// first call of this or the next function installs the handler of SIGTSTP, unless the program was
// started with SIGTSTP ignored.
void cprogram_erase_at_stop(_Bool is_drawn);

// Sets whether the terminal of standard error marks pasted text (bracketed paste). The marking ends
// before Ctrl-Z stops the program, because the next program may not expect it, and returns with the
// program.
void cprogram_unmark_pastes_at_stop(_Bool is_marked);

// Returns the number of columns of a Unicode scalar on a terminal: two for an ideograph, none for
// an accent or an invisible character. Any thread.
int cprogram_columns(unsigned int scalar);
