// The microphone through RtAudio to the headphones: what its users get at the lowest latency that it grants.
//
//     rtaudio-wire CAPTURE PLAYBACK PERIOD
//
// The devices by the names that RtAudio gives them, such as hw:Loopback,1: it takes the first of a device's
// streams that is free. Stereo, 16 bits, 48 kHz, at realtime priority. Ends with a signal.
#include <RtAudio.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

static int copy(void *output, void *input, unsigned frames, double, RtAudioStreamStatus, void *) {
  std::memcpy(output, input, frames * 2 * sizeof(short));
  return 0;
}

static unsigned numbered(RtAudio &audio, const char *name) {
  for (unsigned device = 0; device < audio.getDeviceCount(); device++)
    if (audio.getDeviceInfo(device).name == name) return device;
  std::fprintf(stderr, "rtaudio-wire: no device %s\n", name);
  std::exit(1);
}

int main(int count, char **words) {
  if (count != 4) {
    std::fprintf(stderr, "rtaudio-wire CAPTURE PLAYBACK PERIOD\n");
    return 64;
  }
  RtAudio audio(RtAudio::LINUX_ALSA);
  RtAudio::StreamParameters input, output;
  input.deviceId = numbered(audio, words[1]);
  output.deviceId = numbered(audio, words[2]);
  input.nChannels = output.nChannels = 2;
  RtAudio::StreamOptions options;
  options.flags = RTAUDIO_SCHEDULE_REALTIME | RTAUDIO_MINIMIZE_LATENCY;
  options.priority = 70;
  options.numberOfBuffers = 2;
  unsigned period = std::atoi(words[3]);
  try {
    audio.openStream(&output, &input, RTAUDIO_SINT16, 48000, &period, copy, nullptr, &options);
    audio.startStream();
  } catch (RtAudioError &error) {
    error.printMessage();
    return 1;
  }
  pause();
}
