// A test of the proof: a thread called duplex-audio that allocates, frees and locks once per cycle.
// The counter must count all of these calls, and none of the main thread's.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *volatile block;

static void *work(void *unused) {
  prctl(PR_SET_NAME, "duplex-audio");
  for (int cycle = 0; cycle < 1001; cycle++) {
    poll(NULL, 0, 0);
    block = malloc(100);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    free(block);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int count = 0; count < 1000; count++) free(realloc(calloc(1, 10), 20));
  return pthread_join(thread, NULL);
}
