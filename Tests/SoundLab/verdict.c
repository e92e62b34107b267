#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>

Verdict verdict_on(FrameLayout frames, uint64_t skip) {
  return (Verdict){.frames = frames, .skip = skip};
}

static uint64_t expected(const Run *run) { return run->number + run->frames; }

static void begin_run(Verdict *verdict) {
  if (verdict->run_count > 0) {
    int64_t missing = (int64_t)(verdict->candidate.number - expected(&verdict->latest));
    if (missing > 0) verdict->lost += (uint64_t)missing;
    if (missing < 0) verdict->doubled += (uint64_t)-missing;
    verdict->altered += verdict->altered_since;
    verdict->silent += verdict->silent_since;
  }
  verdict->altered_since = verdict->silent_since = 0;
  verdict->latest = verdict->candidate;
  verdict->candidate = (Run){0};
  verdict->verified += verdict->latest.frames;
  verdict->run_count++;
}

static void note_run(Verdict *verdict) {
  if (verdict->run_count > 0 && verdict->run_count <= runs_listed)
    verdict->runs[verdict->run_count - 1] = verdict->latest;
}

static void give_up_candidate(Verdict *verdict) {
  verdict->altered_since += verdict->candidate.frames;
  verdict->candidate = (Run){0};
}

static void judge_frame(Verdict *verdict, const unsigned char *bytes) {
  const FrameLayout *frames = &verdict->frames;
  uint64_t at = verdict->position;
  Run *latest = &verdict->latest, *candidate = &verdict->candidate;

  bool follows_latest = verdict->run_count > 0 && latest->at + latest->frames == at;
  if (follows_latest && holds_numbered_frame(frames, expected(latest), bytes)) {
    latest->frames++;
    verdict->verified++;
    return;
  }
  if (candidate->frames > 0 && holds_numbered_frame(frames, expected(candidate), bytes)) {
    if (++candidate->frames == frames_that_prove_a_run) {
      note_run(verdict);
      begin_run(verdict);
    }
    return;
  }
  give_up_candidate(verdict);
  if (holds_silence(frames, bytes)) {
    verdict->silent_since++;
    return;
  }
  // After a gap of the same length in the numbers as in time, the number that continues the latest
  // run is the most likely one.
  uint64_t likely = verdict->run_count > 0 ? latest->number + (at - latest->at) : 0;
  uint64_t number = claimed_number(frames, likely, bytes);
  if (holds_numbered_frame(frames, number, bytes))
    *candidate = (Run){.at = at, .number = number, .frames = 1};
  else
    verdict->altered_since++;
}

void judge(Verdict *verdict, const unsigned char *bytes, uint64_t count) {
  int step = frame_bytes(&verdict->frames);
  for (; count > 0; count--, bytes += step, verdict->position++) {
    if (!verdict->sound && !holds_silence(&verdict->frames, bytes)) {
      verdict->sound = true;
      verdict->judged_from = verdict->position + verdict->skip;
    }
    if (verdict->sound && verdict->position >= verdict->judged_from) judge_frame(verdict, bytes);
  }
  note_run(verdict);
}

void print_verdict(const Verdict *verdict, int64_t correction, const char *more) {
  const Run *first = &verdict->runs[0];
  if (verdict->run_count > 0)
    printf("{\"delayFrames\":%" PRId64 ",\"lastDelayFrames\":%" PRId64 ",\"firstFrame\":%" PRIu64,
           delay_of(first) + correction, delay_of(&verdict->latest) + correction, first->at);
  else
    printf("{\"delayFrames\":null,\"lastDelayFrames\":null,\"firstFrame\":null");
  printf(",\"frames\":%" PRIu64 ",\"verifiedFrames\":%" PRIu64 ",\"lostFrames\":%" PRIu64
         ",\"doubledFrames\":%" PRIu64 ",\"alteredFrames\":%" PRIu64 ",\"silentFrames\":%" PRIu64
         ",\"trailingFrames\":%" PRIu64 ",\"runCount\":%" PRIu64 "%s,\"runs\":[",
         verdict->position, verdict->verified, verdict->lost, verdict->doubled, verdict->altered,
         verdict->silent,
         verdict->altered_since + verdict->silent_since + verdict->candidate.frames,
         verdict->run_count, more);
  for (uint64_t i = 0; i < verdict->run_count && i < runs_listed; i++)
    printf("%s{\"at\":%" PRIu64 ",\"delay\":%" PRId64 ",\"frames\":%" PRIu64 "}", i ? "," : "",
           verdict->runs[i].at, delay_of(&verdict->runs[i]) + correction, verdict->runs[i].frames);
  printf("]}\n");
}
