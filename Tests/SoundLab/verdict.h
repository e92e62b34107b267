// The evaluation of received numbered frames: runs of consecutive numbers, and the frames between
// them.
#pragma once
#include "numbered_frames.h"

// A shorter run could be chance; a longer one could hide a period of 16 frames.
enum { frames_that_prove_a_run = 16, runs_listed = 64 };

typedef struct {
  uint64_t at;      // the position of its first frame
  uint64_t number;  // the number of that frame
  uint64_t frames;
} Run;

typedef struct {
  FrameLayout frames;
  uint64_t skip;  // frames not judged, counted from the first that is not silent (a fade-in)
  uint64_t position, judged_from;
  bool sound;  // a frame that is not silent was received
  Run runs[runs_listed];
  uint64_t run_count;
  Run latest, candidate;
  uint64_t verified, lost, doubled, altered, silent;
  uint64_t altered_since, silent_since;  // since the latest run; they count once the next begins
} Verdict;

Verdict verdict_on(FrameLayout frames, uint64_t skip);
void judge(Verdict *verdict, const unsigned char *bytes, uint64_t count);

/// Returns the number of frames by which the run arrived later than it was sent.
static inline int64_t delay_of(const Run *run) { return (int64_t)(run->at - run->number); }

/// Prints one JSON line; `correction` is added to every delay. `more` contains further members, or
/// "".
void print_verdict(const Verdict *verdict, int64_t correction, const char *more);

/// Whether every frame from the first to the last was present once, unaltered and in order.
static inline bool flawless(const Verdict *verdict) {
  return verdict->run_count == 1 && verdict->verified > 0;
}
