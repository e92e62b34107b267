// Until a session hears signals by itself they end the program, in words and with a status of its own.
#include "CProgram.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static int end_status;
static char end_sentence[1001], end_event[1001];

// Nothing but what a signal's handler may call.
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
