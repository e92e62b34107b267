#include "transport.h"

static Transport open_transport(const Request *request, const char *device,
                                snd_pcm_stream_t direction) {
  snd_pcm_uframes_t buffer = 8192 / request->period * request->period;
  Transport transport = {.frames = request->frames, .room = buffer};
  transport.pcm = open_stream((StreamWish){
      .device = device,
      .direction = direction,
      .access = SND_PCM_ACCESS_RW_INTERLEAVED,
      .frames = request->frames,
      .rate = request->rate,
      .period = request->period,
      .buffer = buffer,
      // Wake-ups are rare, so that the instrument does not disturb the measured program.
      .wake_up = buffer / 4,
  });
  transport.bytes = calloc(buffer, (size_t)frame_bytes(&request->frames));
  return transport;
}

Transport open_player(const Request *request) {
  return open_transport(request, request->playback, SND_PCM_STREAM_PLAYBACK);
}

Transport open_listener(const Request *request) {
  return open_transport(request, request->capture, SND_PCM_STREAM_CAPTURE);
}

void play_on(Transport *player) {
  snd_pcm_uframes_t room = (snd_pcm_uframes_t)checked(snd_pcm_avail_update(player->pcm), "play");
  if (room > player->room) room = player->room;
  if (room == 0) return;
  // The first frame is number 1, because number 0 would be silence.
  for (snd_pcm_uframes_t i = 0; i < room; i++)
    write_numbered_frame(&player->frames, player->moved + i + 1,
                         player->bytes + i * (size_t)frame_bytes(&player->frames));
  player->moved += (uint64_t)checked(snd_pcm_writei(player->pcm, player->bytes, room), "play");
}

uint64_t listen(Transport *listener) {
  long ready = checked(snd_pcm_avail_update(listener->pcm), "capture");
  if (ready == 0) return 0;
  if (ready > (long)listener->room) ready = (long)listener->room;
  uint64_t taken = (uint64_t)checked(
      snd_pcm_readi(listener->pcm, listener->bytes, (snd_pcm_uframes_t)ready), "capture");
  listener->moved += taken;
  return taken;
}

int64_t device_position(const Transport *transport) {
  int64_t available = checked(snd_pcm_avail(transport->pcm), "ask for the position");
  if (snd_pcm_stream(transport->pcm) == SND_PCM_STREAM_CAPTURE)
    return (int64_t)transport->moved + available;
  return (int64_t)transport->moved - ((int64_t)transport->room - available);
}
