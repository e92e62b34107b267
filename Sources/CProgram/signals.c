// Receiving signals, and signal handlers. SIGINT, SIGTERM and SIGHUP, until a session handles them,
// print a sentence and end the program with an exit status. SIGTSTP (Ctrl-Z) erases the panel on the
// terminal, ends the marking of pasted text, and stops the program.
#include "CProgram.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int end_status;
static char end_sentence[1001];
static _Atomic(char *) end_events;

// Calls async-signal-safe functions only.
static void end(int number) {
  (void)number;
  ssize_t written = 0;
  if (*end_sentence) written = write(STDERR_FILENO, end_sentence, strlen(end_sentence));
  const char *events = atomic_load(&end_events);
  for (size_t rest = events ? strlen(events) : 0; rest > 0; events += written, rest -= (size_t)written) {
    written = write(STDOUT_FILENO, events, rest);
    if (written <= 0) break;
  }
  _exit(end_status);
}

void cprogram_end_on_signals(int status, const char *sentence, const char *events) {
  end_status = status;
  strncpy(end_sentence, sentence, sizeof end_sentence - 1);
  // The handler may be writing the events of the last call, in another thread.
  static char *earlier;
  free(earlier);
  earlier = atomic_exchange(&end_events, strdup(events));
  const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
    struct sigaction action;
    if (sigaction(numbers[index], NULL, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = (struct sigaction){.sa_handler = end};
    sigaction(numbers[index], &action, NULL);
  }
}

int cprogram_open_signals(const sigset_t *set) { return signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC); }

_Bool cprogram_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static atomic_bool drawn, pastes_marked;

static void install_stop_handler(void);

// Writes to the terminal at standard error. If the program is in the background, the terminal belongs
// to another program.
static void control_terminal(const char *sequence) {
  ssize_t ignored = 0;
  if (tcgetpgrp(STDERR_FILENO) == getpgrp()) ignored = write(STDERR_FILENO, sequence, strlen(sequence));
  (void)ignored;
}

static void stop(int number) {
  const int error = errno;
  if (atomic_load(&drawn)) control_terminal("\r\033[J");
  if (atomic_load(&pastes_marked)) control_terminal("\033[?2004l");
  // SA_RESETHAND has restored the default action: the program stops here, until SIGCONT.
  raise(number);
  install_stop_handler();
  if (atomic_load(&pastes_marked)) control_terminal("\033[?2004h");
  errno = error;
}

static void install_stop_handler(void) {
  const int flags = SA_RESTART | SA_RESETHAND | SA_NODEFER;
  sigaction(SIGTSTP, &(struct sigaction){.sa_handler = stop, .sa_flags = flags}, NULL);
}

// Installs the handler once, unless the program already handles or ignores the signal.
static void handle_stop(void) {
  static atomic_bool is_installed;
  struct sigaction action;
  if (atomic_exchange(&is_installed, 1) || sigaction(SIGTSTP, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
  install_stop_handler();
}

void cprogram_erase_at_stop(_Bool is_drawn) {
  atomic_store(&drawn, is_drawn);
  handle_stop();
}

void cprogram_unmark_pastes_at_stop(_Bool is_marked) {
  atomic_store(&pastes_marked, is_marked);
  handle_stop();
}
