#include "stream.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static volatile sig_atomic_t end_asked;

static void note_signal(int number) {
  (void)number;
  end_asked = 1;
}

void end_on_signals(void) {
  struct sigaction action = {.sa_handler = note_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

bool asked_to_end(void) { return end_asked; }

long checked(long result, const char *attempt) {
  if (result >= 0) return result;
  fprintf(stderr, "counter: cannot %s: %s\n", attempt, snd_strerror((int)result));
  exit(1);
}

snd_pcm_t *open_stream(StreamWish wish) {
  snd_pcm_t *pcm;
  snd_pcm_hw_params_t *hardware;
  snd_pcm_sw_params_t *software;
  snd_pcm_uframes_t boundary;
  snd_pcm_hw_params_alloca(&hardware);
  snd_pcm_sw_params_alloca(&software);

  checked(snd_pcm_open(&pcm, wish.device, wish.direction, SND_PCM_NONBLOCK), wish.device);
  checked(snd_pcm_hw_params_any(pcm, hardware), "ask what the device can do");
  checked(snd_pcm_hw_params_set_access(pcm, hardware, wish.access), "set the access");
  checked(snd_pcm_hw_params_set_format(pcm, hardware,
                                       snd_pcm_format_value(wish.frames.layout.name)),
          "set the format");
  checked(snd_pcm_hw_params_set_channels(pcm, hardware, (unsigned)wish.frames.channels),
          "set the channels");
  checked(snd_pcm_hw_params_set_rate(pcm, hardware, wish.rate, 0), "set the rate");
  checked(snd_pcm_hw_params_set_period_size(pcm, hardware, wish.period, 0), "set the period");
  checked(snd_pcm_hw_params_set_buffer_size(pcm, hardware, wish.buffer), "set the buffer");
  checked(snd_pcm_hw_params(pcm, hardware), "configure the device");

  checked(snd_pcm_sw_params_current(pcm, software), "read the thresholds");
  checked(snd_pcm_sw_params_get_boundary(software, &boundary), "read the boundary");
  // Streams start only on request, never automatically.
  checked(snd_pcm_sw_params_set_start_threshold(pcm, software, boundary), "set the start");
  checked(snd_pcm_sw_params_set_stop_threshold(pcm, software,
                                               wish.free_running ? boundary : wish.buffer),
          "set the stop");
  checked(snd_pcm_sw_params_set_avail_min(pcm, software, wish.wake_up), "set the wake-up");
  checked(snd_pcm_sw_params(pcm, software), "set the thresholds");
  return pcm;
}

bool await(snd_pcm_t *pcm) {
  struct pollfd descriptors[4];
  int count = snd_pcm_poll_descriptors(pcm, descriptors, 4);
  while (!end_asked) {
    unsigned short events = 0;
    int ready = poll(descriptors, (nfds_t)count, 10000);
    if (ready == 0) checked(-ETIME, "wait: no frame moved for ten seconds");
    if (ready < 0) continue;  // a signal
    snd_pcm_poll_descriptors_revents(pcm, descriptors, (unsigned)count, &events);
    if (events) return true;
  }
  return false;
}

static void lock_memory(void) {
  if (mlockall(MCL_CURRENT | MCL_FUTURE)) perror("counter: memory not locked");
}

void become_attentive(void) {
  if (setpriority(PRIO_PROCESS, 0, -10)) perror("counter: no higher priority");
  lock_memory();
}

void become_realtime(int priority) {
  struct sched_param wanted = {.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO, &wanted)) perror("counter: no realtime priority");
  lock_memory();
}
