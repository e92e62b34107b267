// Checks an audio file: WAV according to its header, any other file as raw frames of the given
// format.
#include "request.h"
#include "verdict.h"

static uint32_t number_at(const unsigned char *bytes, int count) {
  uint32_t number = 0;
  for (int i = 0; i < count; i++) number |= (uint32_t)bytes[i] << 8 * i;
  return number;
}

static const char *format_name(unsigned tag, unsigned bits) {
  if (tag == 3 && bits == 32) return "FLOAT_LE";
  if (tag == 1 && bits == 16) return "S16_LE";
  if (tag == 1 && bits == 24) return "S24_3LE";
  if (tag == 1 && bits == 32) return "S32_LE";
  return NULL;
}

static void read_format(FrameLayout *frames, const unsigned char *chunk) {
  unsigned tag = number_at(chunk, 2);
  if (tag == 0xFFFE) tag = number_at(chunk + 24, 2);  // extensible: the tag begins its GUID
  const char *name = format_name(tag, number_at(chunk + 14, 2));
  if (!name) checked(-EINVAL, "understand the file's sample format");
  frames->layout = *sample_layout(name);
  frames->channels = (int)number_at(chunk + 2, 2);
}

/// Positions `file` at its first frame and returns the number of bytes of frames given by the
/// header.
static uint64_t read_head(FILE *file, FrameLayout *frames) {
  unsigned char head[12], chunk[8], format[40] = {0};
  if (fread(head, 1, 12, file) != 12 || memcmp(head + 8, "WAVE", 4)) {
    rewind(file);
    return UINT64_MAX;
  }
  while (fread(chunk, 1, 8, file) == 8) {
    uint32_t size = number_at(chunk + 4, 4);
    // RF64 stores its true length elsewhere.
    if (!memcmp(chunk, "data", 4)) return size == UINT32_MAX ? UINT64_MAX : size;
    uint32_t known = size < sizeof format ? size : sizeof format;
    bool is_format = !memcmp(chunk, "fmt ", 4);
    if (is_format && fread(format, 1, known, file) == known) read_format(frames, format);
    fseek(file, (long)(size + size % 2 - (is_format ? known : 0)), SEEK_CUR);
  }
  checked(-EINVAL, "find frames in the file");
  return 0;
}

int run_verify(const Request *request) {
  FILE *file = request->file ? fopen(request->file, "rb") : NULL;
  if (!file) checked(-ENOENT, "open the file");
  FrameLayout frames = request->frames;
  uint64_t bytes_left = read_head(file, &frames);
  // Frames that were played with 16 bits contain 16-bit numbers in a file of any format.
  frames.layout.depth = request->frames.layout.depth;

  Verdict verdict = verdict_on(frames, (uint64_t)(request->skip * request->rate));
  size_t step = (size_t)frame_bytes(&frames), room = 4096;
  unsigned char *bytes = malloc(room * step);
  for (size_t got; (got = fread(bytes, step, room, file)) > 0; bytes_left -= got * step) {
    if (got * step > bytes_left) got = bytes_left / step;
    if (got == 0) break;
    judge(&verdict, bytes, got);
  }
  print_verdict(&verdict, 0, "");
  return flawless(&verdict) && verdict.altered_since + verdict.silent_since == 0 ? 0 : 1;
}
