// Measures what an audio program does to the frames that pass through it.
//
//   counter clock   -P PCM -p P                          makes a card tick every P frames
//   counter loop    -P PCM -C PCM [--skip S] [--save F]  plays numbered frames and captures them
//   counter play    -P PCM                               plays numbered frames
//   counter capture -C PCM [--skip S] [--save F]         checks captured numbered frames
//   counter verify  FILE [--skip S]                      checks a WAV file, or a raw one with -f -c
//   counter wire    -C PCM -P PCM --headroom H           the minimal loop from input to output
//                   [--delay FRAMES]                     with an added delay, such as 1234.5
//   counter hog                                          keeps the processor busy
//
// Options of all: -r RATE, -f FORMAT, -c CHANNELS, -p PERIOD, -d SECONDS. Every command prints one
// JSON line; the status is 0 if each frame was present once, unaltered and in order.
#include <getopt.h>

#include "delay_line.h"
#include "request.h"

static const struct {
  const char *name;
  int (*run)(const Request *);
} commands[] = {
    {"clock", run_clock},     {"loop", run_loop},     {"play", run_play},
    {"capture", run_capture}, {"verify", run_verify}, {"wire", run_wire},
    {"hog", run_hog},
};

static const struct option long_options[] = {
    {"headroom", required_argument, 0, 'H'},
    {"delay", required_argument, 0, 'D'},
    {"skip", required_argument, 0, 'S'},
    {"save", required_argument, 0, 'O'},
    {0},
};

static void refuse(const char *sentence) {
  fprintf(stderr, "counter: %s\n", sentence);
  exit(64);
}

static double number(const char *word) {
  char *end;
  double number = strtod(word, &end);
  if (end == word || *end) refuse("a delay is a number of frames");
  return number;
}

static Request parse(int count, char **words) {
  Request request = {.rate = 48000, .period = 64, .headroom = -1, .seconds = 1e9};
  request.frames = (FrameLayout){*sample_layout("S16_LE"), 2};
  for (int option; (option = getopt_long(count, words, "C:P:r:f:c:p:d:", long_options, 0)) >= 0;)
    switch (option) {
      case 'C': request.capture = optarg; break;
      case 'P': request.playback = optarg; break;
      case 'r': request.rate = (unsigned)atoi(optarg); break;
      case 'c': request.frames.channels = atoi(optarg); break;
      case 'p': request.period = (snd_pcm_uframes_t)atol(optarg); break;
      case 'd': request.seconds = atof(optarg); break;
      case 'H': request.headroom = atol(optarg); break;
      case 'D': request.delay = number(optarg); break;
      case 'S': request.skip = atof(optarg); break;
      case 'O': request.save = optarg; break;
      case 'f':
        if (!sample_layout(optarg)) refuse("no such sample format");
        request.frames.layout = *sample_layout(optarg);
        break;
      default: exit(64);
    }
  request.file = words[optind];
  if (request.headroom < 0) request.headroom = (long)request.period;
  if (request.frames.channels < 1) refuse("at least one channel, please");
  const char *objection = delay_objection(&request.frames, request.delay);
  if (objection) refuse(objection);
  return request;
}

int main(int count, char **words) {
  if (count < 2) refuse("say which: clock, loop, play, capture, verify, wire or hog");
  for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
    if (!strcmp(commands[i].name, words[1])) {
      Request request = parse(count - 1, words + 1);
      end_on_signals();
      return commands[i].run(&request);
    }
  refuse("no such command");
}
