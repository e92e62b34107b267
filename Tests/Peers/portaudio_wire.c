// Passes the microphone through PortAudio to the headphones, at the lowest latency that PortAudio
// grants.
//
//     portaudio-wire CAPTURE PLAYBACK PERIOD
//
// Stereo, 16 bits, 48 kHz, with PortAudio's realtime scheduling. Ends on a signal.
#include <pa_linux_alsa.h>
#include <portaudio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(PaError error, const char *attempt) {
  if (error >= 0) return;
  fprintf(stderr, "portaudio-wire: cannot %s: %s\n", attempt, Pa_GetErrorText(error));
  exit(1);
}

static int copy(const void *input, void *output, unsigned long frames, const PaStreamCallbackTimeInfo *times,
                PaStreamCallbackFlags flags, void *nothing) {
  (void)times, (void)flags, (void)nothing;
  memcpy(output, input, frames * 2 * sizeof(int16_t));
  return paContinue;
}

static PaStreamParameters parameters(PaAlsaStreamInfo *info, const char *device, double latency) {
  PaAlsa_InitializeStreamInfo(info);
  info->deviceString = device;
  return (PaStreamParameters){
      .device = paUseHostApiSpecificDeviceSpecification,
      .channelCount = 2,
      .sampleFormat = paInt16,
      .suggestedLatency = latency,
      .hostApiSpecificStreamInfo = info,
  };
}

int main(int count, char **words) {
  if (count != 4) {
    fprintf(stderr, "portaudio-wire CAPTURE PLAYBACK PERIOD\n");
    return 64;
  }
  unsigned long period = strtoul(words[3], NULL, 10);
  check(Pa_Initialize(), "begin");
  PaAlsaStreamInfo from, to;
  PaStreamParameters input = parameters(&from, words[1], period / 48000.0);
  PaStreamParameters output = parameters(&to, words[2], period / 48000.0);
  PaStream *stream;
  check(Pa_OpenStream(&stream, &input, &output, 48000, period, paNoFlag, copy, NULL), "open the devices");
  PaAlsa_EnableRealtimeScheduling(stream, 1);
  check(Pa_StartStream(stream), "start");
  pause();
  return 0;
}
