// Receiving signals, and signal handlers. SIGINT, SIGTERM and SIGHUP, until a session handles them,
// print a sentence and end the program with an exit status. SIGTSTP (Ctrl-Z) erases the panel on the
// terminal and stops the program.
#include "CProgram.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int end_status;
static char end_sentence[1001], end_event[1001];

// Calls async-signal-safe functions only.
static void end(int number) {
  (void)number;
  ssize_t ignored = 0;
  if (*end_sentence) ignored += write(STDERR_FILENO, end_sentence, strlen(end_sentence));
  if (*end_event) ignored += write(STDOUT_FILENO, end_event, strlen(end_event));
  (void)ignored;
  _exit(end_status);
}

void cprogram_end_on_signals(int status, const char *sentence, const char *event) {
  end_status = status;
  strncpy(end_sentence, sentence, sizeof end_sentence - 1);
  strncpy(end_event, event, sizeof end_event - 1);
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

static atomic_bool drawn;

static void install_stop_handler(void);

static void stop(int number) {
  const int error = errno;
  ssize_t ignored = 0;
  // If the program is in the background, the terminal belongs to another program.
  if (atomic_load(&drawn) && tcgetpgrp(STDERR_FILENO) == getpgrp()) ignored = write(STDERR_FILENO, "\r\033[J", 4);
  (void)ignored;
  // SA_RESETHAND has restored the default action: the program stops here, until SIGCONT.
  raise(number);
  install_stop_handler();
  errno = error;
}

static void install_stop_handler(void) {
  const int flags = SA_RESTART | SA_RESETHAND | SA_NODEFER;
  sigaction(SIGTSTP, &(struct sigaction){.sa_handler = stop, .sa_flags = flags}, NULL);
}

void cprogram_erase_at_stop(_Bool is_drawn) {
  static atomic_bool is_installed;
  atomic_store(&drawn, is_drawn);
  struct sigaction action;
  if (atomic_exchange(&is_installed, 1) || sigaction(SIGTSTP, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
  install_stop_handler();
}
